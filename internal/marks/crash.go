package marks

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"

	"company/internal/folder"
)

// takeCrash reports whether Go itself ended the last process, logs what it wrote of that, and has
// it write of this process.
func (b *Book) takeCrash() (crashed bool) {
	text, err := readCrash(b.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.log.Warn("how the last process ended is not known", "err", err)
	}
	f, err := b.folder.OpenFile(crashFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		err = errors.Join(debug.SetCrashOutput(f, debug.CrashOptions{}), f.Close())
	}
	if err != nil {
		b.log.Warn("a fatal error of this process will not be noted", "err", err)
	}
	// With SIGQUIT a person ended it, to see the stacks.
	if crashed = text != "" && !strings.HasPrefix(text, "SIGQUIT"); crashed {
		b.log.Error("the last process ended by a fatal error", "stack", text)
	}
	return crashed
}

func readCrash(f *folder.Folder) (string, error) {
	file, err := f.Open(crashFile)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxStack))
	return string(text), err
}
