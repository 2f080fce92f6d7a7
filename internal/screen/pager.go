package screen

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// PageText shows a text on a terminal of so many lines: through the person's pager
// where it does not fit, and to w otherwise. lookup reads environ, which the pager
// gets.
func PageText(w io.Writer, terminal *os.File, height int, text string, environ []string, lookup func(string) (string, bool)) error {
	pager := pagerCommand(lookup)
	if pager == "" || strings.Count(text, "\n") < height {
		_, err := io.WriteString(w, text)
		return err
	}
	c := exec.Command("sh", "-c", pager) // it ends when the person has seen enough
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), terminal, os.Stderr
	c.Env = slices.Clone(environ)
	if _, ok := lookup("LESS"); !ok {
		c.Env = append(c.Env, "LESS=FRX") // colours, and no pager for one screen
	}
	if err := c.Start(); err != nil {
		_, err = io.WriteString(w, text)
		return err
	}
	_ = c.Wait() // it reports its own failures
	return nil
}

// pagerCommand is the pager that the environment names, or less; "": none is wanted,
// or there is none.
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
