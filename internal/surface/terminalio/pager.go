package terminalio

import (
	"io"
	"os"

	"company/internal/present/termtext"
)

// PrintLong prints a result. If it does not fit on the terminal, it uses the user's pager. A pipe
// or a file gets the plain text.
func (con *Console) PrintLong(text string) error {
	if file, ok := con.pagedOutput(); ok {
		_, height := terminalSize(con.Out)
		return termtext.PageText(con.Out, file, height, termtext.Guard(text), con.Environ, con.LookupEnv)
	}
	_, err := io.WriteString(con.Out, text)
	return err
}

// HasPager reports whether PrintLong may use a pager.
func (con *Console) HasPager() bool {
	_, ok := con.pagedOutput()
	return ok
}

// pagedOutput returns stdout if it is the terminal of a person at the keyboard.
func (con *Console) pagedOutput() (file *os.File, ok bool) {
	if con.NoInput || con.Output != "text" || !con.MovesCursor(con.Out) || !IsTerminal(con.In) {
		return nil, false
	}
	if out, isWriter := con.Out.(*Stdout); isWriter {
		file, ok = out.W.(*os.File)
	}
	return file, ok
}
