package termtext

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// PageText shows a text on a terminal of the given height. If the text does not fit it uses the user's pager, and
// otherwise writes to w. The pager runs with environ, and lookup reads variables from it.
func PageText(
	w io.Writer, terminal *os.File, height int, text string, environ []string, lookup func(string) (string, bool),
) error {
	pager := pagerCommand(lookup)
	if pager == "" || strings.Count(text, "\n") < height {
		_, err := io.WriteString(w, text)
		return err
	}
	cmd := exec.Command("sh", "-c", pager) // it ends when the user quits
	cmd.Stdin = strings.NewReader(text)
	cmd.Stdout = terminal
	cmd.Stderr = os.Stderr
	cmd.Env = slices.Clone(environ)
	if _, ok := lookup("LESS"); !ok {
		cmd.Env = append(cmd.Env, "LESS=FRX") // colours, and exit at once if the text fits one screen
	}
	if err := cmd.Start(); err != nil {
		_, err = io.WriteString(w, text)
		return err
	}
	_ = cmd.Wait() // the pager reports its own failures
	return nil
}

// pagerCommand returns the pager from the environment, or less. It returns "" if the user wants no pager, or less is
// not installed.
func pagerCommand(lookup func(string) (string, bool)) string {
	if pager, ok := lookup("PAGER"); ok {
		if pager = strings.TrimSpace(pager); pager == "cat" {
			return ""
		}
		return pager
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less"
}
