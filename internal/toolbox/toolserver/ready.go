package toolserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// readyScript is the path of an optional script in an image that prepares a fresh tree. It links prepared dependencies
// into place.
const readyScript = "/opt/company/ready"

// readyTimeout is the timeout of the script, which only links and copies small files.
const readyTimeout = time.Minute

// makeReady runs the image's script, if there is one, in the root of a fresh tree.
func makeReady(ctx context.Context, c *children, script, dir string, env []string) error {
	if script == "" {
		return nil
	}
	if _, err := os.Stat(script); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, script)
	cmd.Dir, cmd.Env = dir, env
	// In a separate process group, so that its child processes end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := c.start(cmd)
	if err == nil {
		err = c.wait(cmd)
	}
	if err == nil {
		return nil
	}
	const most = 2048
	text := strings.TrimSpace(out.String())
	if len(text) > most {
		text = text[len(text)-most:]
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s ran out of time: %s", script, text)
	}
	return fmt.Errorf("%s: %w: %s", script, err, text)
}
