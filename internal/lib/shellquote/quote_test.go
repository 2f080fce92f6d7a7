package shellquote

import (
	"os/exec"
	"testing"
)

// A shell reads each quoted text as one word, which is that text.
func TestQuotesForAShell(t *testing.T) {
	for _, text := range []string{
		"", "plain/path.go", "two words", "it's", "~user", "$(id)", "`id`", "a\\b", "if", "#1", "\u00e9t\u00e9",
		"a\tb", "one\ntwo; id", "a\u00a0$(id)", "\u200b$(id)", "\x1b[31m'$(id)'", "\xff;id",
	} {
		for name, quote := range map[string]func(string) string{"Quote": Quote, "QuoteArgument": QuoteArgument} {
			out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '<%s>' "+quote(text)).Output()
			if want := "<" + text + ">"; err != nil || string(out) != want {
				t.Errorf("%s(%q) is %q, which sh reads as %q, %v", name, text, quote(text), out, err)
			}
		}
	}
	for _, text := range []string{"plain/path.go", "v1.2-rc+3"} {
		if got := Quote(text); got != text {
			t.Errorf("Quote(%q) is %q", text, got)
		}
	}
}
