package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"company/internal/company"
)

// named are the commands that a page names: in code, from the word company to the
// end of the span or of the line.
var named = regexp.MustCompile("(?m)`company ([^`]*)`|^(?:\\$ )?company ([^\\n]*)$")

// TestDocsNameCommandsThatExist: a command that a page or an error's guide tells a
// reader to type is there, with its flags.
func TestDocsNameCommandsThatExist(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	pages = append(pages, "../../../README.md", "../../../SECURITY.md", "../../../CONTRIBUTING.md")
	count := 0
	check := func(where, line string) {
		if fault := checkCommandLine(line); fault != "" {
			t.Errorf("%s says company %s: %s", where, line, fault)
		}
		count++
	}
	for _, page := range pages {
		if filepath.Base(page) == "requirements.md" {
			continue // it quotes demands on commands that are not there yet
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		fenced := false
		for _, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
			}
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				if m[1] != "" || fenced {
					check(page, m[1]+m[2])
				}
			}
		}
	}
	guided := regexp.MustCompile(`company ([a-z][a-z -]*)`)
	for _, g := range company.ErrorGuides() {
		for _, m := range guided.FindAllStringSubmatch(g.Do, -1) {
			check("the guide of "+string(g.Code), m[1])
		}
	}
	if count < 100 {
		t.Errorf("only %d commands were found", count)
	}
}

// commandName is the first word of a command line, as opposed to that of output.
var commandName = regexp.MustCompile(`^[a-z][a-z-]*$`)

// checkCommandLine looks for the command and the flags of a line. It says what is
// wrong.
func checkCommandLine(line string) string {
	line, _, _ = strings.Cut(line, " #") // a remark behind it
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,;:|", r) })
	switch {
	case len(words) == 0:
		return "it names no command"
	case strings.HasPrefix(words[0], "-"), !commandName.MatchString(words[0]):
		return "" // company --help; output such as company 0.1.0
	case words[0] == "help":
		return ""
	}
	c := Tree()
	for _, w := range words {
		next, _, err := c.Find([]string{w})
		if err != nil || next == c {
			break
		}
		c = next
	}
	if !c.HasParent() {
		return "there is no command " + words[0]
	}
	for _, w := range words {
		flag, ok := strings.CutPrefix(strings.Trim(w, `"'[]().…`), "--")
		flag, _, _ = strings.Cut(flag, "=")
		if ok && flag != "" && flag != "help" && c.Flags().Lookup(flag) == nil && c.InheritedFlags().Lookup(flag) == nil {
			return c.CommandPath() + " has no flag --" + flag
		}
	}
	return ""
}
