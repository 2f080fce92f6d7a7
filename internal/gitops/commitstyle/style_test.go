package commitstyle_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"company/internal/gitops/commitstyle"
)

// Logs as repositories have them, the newest first.
var logs = map[string][]string{
	"conventional": {
		"fix(parser): keep the comma behind a quoted field (#412)", "feat(cli): add --json to list",
		"chore(deps): bump golang.org/x/text from 0.14.0 to 0.15.0",
		"fix(parser): do not panic on an empty record", "docs: describe the record format",
		"Merge pull request #398 from a/b", "refactor(encoder): split the writer",
		"test(parser): cover carriage returns", "ci: pin the runner", "feat(encoder)!: write UTF-8 by default",
	},
	"conventional without scopes": {"fix: handle nil headers", "feature: Retry on 429", "tests: add a case",
		"fix: close the body", "docs: mention retries"},
	"go": {
		"net/http: don't send Content-Length with 1xx", "cmd/go: fix typo in help", "runtime: remove unused field",
		"net/http/httputil: preserve trailers",
		"crypto/tls: reject empty ALPN lists", "all: gofmt", "Revert \"runtime: use the new timers\"",
		"encoding/csv: document LazyQuotes", "cmd/compile: fold constant shifts",
	},
	"area, capital": {"Parser: Keep commas.", "Parser: Read quotes.", "Writer: Flush at the end.",
		"Docs: Say what a record is.", "Parser: Count columns."},
	"capital": {
		"Add support for nested tables", "Fix panic in decoder when key is empty", "Update README",
		"Improve error messages for invalid dates", "Remove deprecated Encode method",
		"Bump actions/checkout from 3 to 4", "Fix typo", "Allow unicode in bare keys", "Add tests for arrays", "Use go 1.22",
		"Merge branch 'main' into arrays",
	},
	"lower":     {"fix empty input", "more tests", "rename Foo to Bar", "handle EOF in readLine", "TODO list updated"},
	"full stop": {"Added a flag.", "Fixed the flag.", "The reader now closes its file.", "Removed a dead branch."},
	"long": {
		"Make the scheduler prefer the queue of the processor that last ran the job over the global queue",
		"Keep the queue of jobs that wait for a lock in the order in which they came to the lock",
		"Let a job name the processors on which it may run, and keep to that when jobs are stolen", "Count the jobs",
	},
	"two":  {"first commit", "fix: x y"},
	"none": nil,
}

// A title, or a worker's own subject, comes into the style of the log.
func TestSubjectTakesStyle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		log, title, want string
		paths            []string
	}{
		{"conventional", "Fix the commas of quoted fields", "fix(parser): commas of quoted fields",
			[]string{"internal/parser/read.go", "internal/parser/read_test.go"}},
		{"conventional", "Add a flag --since to list", "feat(cli): add a flag --since to list",
			[]string{"cli/list.go", "cli/list_test.go", "README.md"}},
		{"conventional", "Describe the flags", "docs: describe the flags", []string{"README.md", "docs/flags.md"}},
		{"conventional", "Cover empty records", "test(parser): cover empty records", []string{"parser/empty_test.go"}},
		{"conventional", "fix(reader): read to the end.", "fix(reader): read to the end", []string{"reader.go"}},
		{"conventional", "Records with CRLF ends are wrong", "fix: records with CRLF ends are wrong", []string{"other/x.go"}},
		{"conventional", "API keys are read from a file", "feat: API keys are read from a file", []string{"x.go"}},
		{"conventional", "Note: the parser is slow", "feat(parser): note: the parser is slow", []string{"parser.go"}},
		{"conventional", "parser: keep blanks", "fix(parser): keep blanks", []string{"parser.go"}},
		{"conventional without scopes", "Add a limit", "feature: add a limit", []string{"limit/limit.go"}},
		{"conventional without scopes", "Test the limit", "tests: test the limit", []string{"limit/limit_test.go"}},
		{"go", "Reject headers with a blank", "net/http: reject headers with a blank",
			[]string{"src/net/http/header.go", "src/net/http/header_test.go"}},
		{"go", "Decode names", "mime/multipart: decode names",
			[]string{"mime/multipart/form.go", "mime/multipart/reader.go"}},
		{"go", "Say what is read", "encoding/csv: say what is read", []string{"encoding/csv/reader.go", "doc/csv.md"}},
		{"go", "Drop the build tags", "drop the build tags", []string{"a/x.go", "b/y.go"}},
		{"area, capital", "keep tabs", "Parser: Keep tabs.", []string{"lib/parser.c", "tests/parser_test.c"}},
		{"area, capital", "keep tabs", "Reader: Keep tabs.", []string{"Reader/read.c", "Reader/tabs.c"}},
		{"capital", "fix(parser): keep commas", "Keep commas", []string{"parser.go"}},
		{"capital", "make bare keys end at a dot.", "Make bare keys end at a dot", []string{"parser.go"}},
		{"capital", "parseKey ends at a dot", "parseKey ends at a dot", []string{"parser.go"}},
		{"lower", "Handle a closed pipe", "handle a closed pipe", []string{"x.go"}},
		{"lower", "HTTP errors are shown", "HTTP errors are shown", []string{"x.go"}},
		{"full stop", "Close the file", "Close the file.", []string{"x.go"}},
		{"two", "Fix the thing.", "Fix the thing", []string{"x.go"}},
		{"none", "keep what is there", "keep what is there", nil},
	} {
		got, whole := commitstyle.ReadStyle(logs[c.log]).WriteSubject(c.title, c.paths, "")
		if got != c.want || !whole {
			t.Errorf("%s: %q became %q, not %q (whole: %v)", c.log, c.title, got, c.want, whole)
		}
	}
}

// A subject that is too long for the log is cut at a blank; a scope gives way before that.
func TestSubjectKeepsLength(t *testing.T) {
	t.Parallel()
	title := "Keep the queue of jobs that wait for a lock in the order in which they came to it"
	for log, want := range map[string]struct {
		line  string
		whole bool
	}{
		"capital":      {"Keep the queue of jobs that wait for a lock…", false},
		"long":         {title, true},
		"conventional": {"fix: keep the queue of jobs that wait for a lock…", false},
	} {
		got, whole := commitstyle.ReadStyle(logs[log]).WriteSubject(title, []string{"parser/x.go"}, "")
		if log == "capital" {
			// Its subjects keep to fifty characters.
			if utf8.RuneCountInString(got) > 50 || whole {
				t.Errorf("%s: %q, %v", log, got, whole)
			}
			continue
		}
		if got != want.line || whole != want.whole {
			t.Errorf("%s: %q, %v", log, got, whole)
		}
	}
	if got, whole := commitstyle.ReadStyle(logs["conventional"]).WriteSubject(
		"Fix "+strings.Repeat("x", 90), nil, ""); whole || utf8.RuneCountInString(got) > 72 {
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
		{"conventional", "fix(parser): keep the last comma", true}, {"conventional", "fix: keep the last comma", true},
		{"conventional", "Keep the last comma", false},
		{"conventional", "parser: keep the last comma", false}, {"conventional", "fix: it", false},
		{"go", "encoding/csv: keep the last comma", true}, {"go", "Keep the last comma", false},
		{"capital", "Keep the last comma", true}, {"capital", "keep the last comma", true},
		{"capital", "fix: keep the last comma", false}, {"capital", "fix", false},
		{"capital", "WIP commas", false}, {"capital", "fixup! Keep commas", false},
		{"capital", strings.Repeat("long ", 12), false},
		{"none", "Keep the last comma", true}, {"none", "", false},
	} {
		if got := commitstyle.ReadStyle(logs[c.log]).FitsStyle(c.subject); got != c.fits {
			t.Errorf("%s: %q fits: %v", c.log, c.subject, got)
		}
	}
}

// Any text gives a line that is no longer than it may be, and the same one each time.
func FuzzWriteSubject(f *testing.F) {
	f.Add("fix: a (b)\nc", "Ünï cödé: x", "a/b.go")
	f.Add("", "  ", "")
	f.Add("x: y.", ":", "/")
	f.Add("x: y.", "t", "a\x03b\n/x")
	f.Add(".: y.", "`", "//")
	f.Fuzz(func(t *testing.T, line, title, file string) {
		style := commitstyle.ReadStyle(append(strings.Split(line, "\n"), line, line, line))
		got, _ := style.WriteSubject(title, []string{file, file + "x"}, "")
		again, _ := style.WriteSubject(title, []string{file, file + "x"}, "")
		if got != again || strings.Contains(got, "\n") || utf8.RuneCountInString(got) > 400 {
			t.Fatalf("%q, then %q", got, again)
		}
	})
}
