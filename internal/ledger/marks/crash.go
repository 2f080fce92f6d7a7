package marks

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"

	"company/internal/lib/safedir"
)

// takeCrash reports whether Go itself ended the last process, and logs the crash output. It then
// directs the crash output of this process to the file.
func (b *Book) takeCrash() (crashed bool) {
	text, err := readCrash(b.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.log.Warn("how the last process ended is not known", "err", err)
	}
	file, err := b.folder.OpenFile(crashFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		err = errors.Join(debug.SetCrashOutput(file, debug.CrashOptions{}), file.Close())
	}
	if err != nil {
		b.log.Warn("a fatal error of this process will not be noted", "err", err)
	}
	// SIGQUIT is no crash: a person sent it to see the stacks.
	if crashed = text != "" && !strings.HasPrefix(text, "SIGQUIT"); crashed {
		b.log.Error("the last process ended by a fatal error", "stack", text)
	}
	return crashed
}

func readCrash(f *safedir.Folder) (string, error) {
	file, err := f.Open(crashFile)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxStack))
	return string(text), err
}
