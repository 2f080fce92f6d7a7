package merger

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Logs as repositories have them, the newest first.
var logs = map[string][]string{
	"conventional": {
		"fix(parser): keep the comma behind a quoted field (#412)", "feat(cli): add --json to list",
		"fix(parser): do not panic on an empty record", "docs: describe the record format", "Merge pull request #398 from a/b",
		"refactor(encoder): split the writer", "ci: pin the runner", "feat(encoder)!: write UTF-8 by default",
	},
	"area": {
		"net/http: don't send Content-Length with 1xx", "cmd/go: fix typo in help", "runtime: remove unused field",
		"net/http/httputil: preserve trailers", "crypto/tls: reject empty ALPN lists", "all: gofmt",
		"Revert \"runtime: use the new timers\"", "encoding/csv: document LazyQuotes",
	},
	"capital": {
		"Add support for nested tables", "Fix panic in decoder when key is empty", "Update README",
		"Improve error messages for invalid dates", "docs: Remove deprecated Encode method", "Fix typo",
	},
	"lower": {"fix empty input", "more tests", "rename Foo to Bar", "handle EOF in readLine", "TODO list updated"},
	"two":   {"first commit", "fix: x y"},
	"none":  nil,
}

// A title comes into the style of the log.
func TestSubjectTakesStyle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		log, title, want string
		paths            []string
	}{
		{"conventional", "Fix the commas of quoted fields", "fix: fix the commas of quoted fields",
			[]string{"parser/read.go", "parser/read_test.go"}},
		{"conventional", "Add a flag --since to list", "feat: add a flag --since to list", []string{"cli/list.go", "README.md"}},
		{"conventional", "Describe the flags", "docs: describe the flags", []string{"README.md", "docs/flags.txt"}},
		{"conventional", "Cover empty records", "test: cover empty records", []string{"parser/empty_test.go"}},
		{"conventional", "fix(reader): read to the end.", "fix(reader): read to the end", []string{"reader.go"}},
		{"conventional", "API keys are read from a file", "feat: API keys are read from a file", nil},
		{"conventional", "Note: the parser is slow", "feat: note: the parser is slow", []string{"parser.go"}},
		{"area", "Reject headers with a blank", "net/http: reject headers with a blank",
			[]string{"src/net/http/header.go", "src/net/http/header_test.go"}},
		{"area", "Say what is read", "encoding/csv: say what is read", []string{"encoding/csv/reader.go", "doc/csv.md"}},
		{"area", "fix: keep trailers", "runtime: keep trailers", []string{"runtime.go"}},
		{"area", "Drop the build tags", "drop the build tags", []string{"a/x.go", "b/y.go"}},
		{"capital", "fix(parser): Keep commas", "Keep commas", []string{"parser.go"}},
		{"capital", "parseKey ends at a dot", "parseKey ends at a dot", nil},
		{"lower", "Handle a closed pipe", "handle a closed pipe", nil},
		{"lower", "HTTP errors are shown", "HTTP errors are shown", nil},
		{"two", "Fix the thing.", "[t1-01] Fix the thing", nil},
		{"none", "keep what is  there", "[t1-01] keep what is there", nil},
	} {
		got, whole := detectStyle(logs[c.log]).writeSubject(c.title, c.paths, "[t1-01] ")
		if got != c.want || !whole {
			t.Errorf("%s: %q became %q, not %q (whole: %v)", c.log, c.title, got, c.want, whole)
		}
	}
	got, whole := detectStyle(logs["conventional"]).writeSubject(
		"Keep the queue of jobs that wait for a lock in the order in which they came to it", nil, "")
	if got != "feat: keep the queue of jobs that wait for a lock in the order in …" || whole {
		t.Errorf("%q, %v", got, whole)
	}
}

// A worker's own subject is taken where it is as the log has them.
func TestSubjectFitsStyle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		log, subject string
		fits         bool
	}{
		{"conventional", "fix(parser): keep the last comma", true}, {"conventional", "Keep the last comma", false},
		{"conventional", "parser: keep the last comma", false}, {"conventional", "fix: it", false},
		{"area", "encoding/csv: keep the last comma", true}, {"area", "Keep the last comma", false},
		{"capital", "Keep the last comma", true}, {"capital", "fix: keep the last comma", false}, {"capital", "fix", false},
		{"capital", "fixup! Keep commas", false}, {"capital", strings.Repeat("long ", 15), false},
		{"none", "Keep the last comma", true}, {"none", "", false},
	} {
		if got := detectStyle(logs[c.log]).fitsStyle(c.subject); got != c.fits {
			t.Errorf("%s: %q fits: %v", c.log, c.subject, got)
		}
	}
}

// Any text gives one line of a bounded length, and the same one each time.
func FuzzWriteSubject(f *testing.F) {
	f.Add("fix: a (b)\nc", "Ünï cödé: x", "a/b.go")
	f.Add("", "  ", "")
	f.Add("x: y.", "t", "a\x03b\n/x")
	f.Fuzz(func(t *testing.T, line, title, file string) {
		style := detectStyle(append(strings.Split(line, "\n"), line, line, line))
		got, _ := style.writeSubject(title, []string{file, file + "x"}, "")
		again, _ := style.writeSubject(title, []string{file, file + "x"}, "")
		if got != again || strings.Contains(got, "\n") || utf8.RuneCountInString(got) > 200 {
			t.Fatalf("%q, then %q", got, again)
		}
	})
}
