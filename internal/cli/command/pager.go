package command

import (
	"io"
	"os"

	"company/internal/screen"
)

// PrintLong prints a result that may be long: where it does not fit on the terminal,
// through the person's pager. A pipe or a file gets it as it is.
func (env *Environment) PrintLong(text string) error {
	if file, ok := env.pagedOutput(); ok {
		_, height := terminalSize(env.Out)
		return screen.PageText(file, height, text, env.Environ, env.LookupEnv)
	}
	_, err := io.WriteString(env.Out, text)
	return err
}

// HasPager says whether PrintLong may show a text in a pager.
func (env *Environment) HasPager() bool {
	_, ok := env.pagedOutput()
	return ok
}

// pagedOutput is stdout where it is the terminal of a person at the keyboard.
func (env *Environment) pagedOutput() (file *os.File, ok bool) {
	if env.NoInput || env.Output != "text" || !env.MovesCursor(env.Out) || !IsTerminal(env.In) {
		return nil, false
	}
	if out, isWriter := env.Out.(*StdoutWriter); isWriter {
		file, ok = out.W.(*os.File)
	}
	return file, ok
}
