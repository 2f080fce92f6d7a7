package console

import (
	"io"
	"os"

	"company/internal/screen"
)

// PrintLong prints a result that may be long: where it does not fit on the terminal,
// through the person's pager. A pipe or a file gets it as it is.
func (con *Console) PrintLong(text string) error {
	if file, ok := con.pagedOutput(); ok {
		_, height := terminalSize(con.Out)
		return screen.PageText(con.Out, file, height, screen.Guard(text), con.Environ, con.LookupEnv)
	}
	_, err := io.WriteString(con.Out, text)
	return err
}

// HasPager says whether PrintLong may show a text in a pager.
func (con *Console) HasPager() bool {
	_, ok := con.pagedOutput()
	return ok
}

// pagedOutput is stdout where it is the terminal of a person at the keyboard.
func (con *Console) pagedOutput() (file *os.File, ok bool) {
	if con.NoInput || con.Output != "text" || !con.MovesCursor(con.Out) || !IsTerminal(con.In) {
		return nil, false
	}
	if out, isWriter := con.Out.(*Stdout); isWriter {
		file, ok = out.W.(*os.File)
	}
	return file, ok
}
