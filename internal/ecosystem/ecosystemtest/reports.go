package ecosystemtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/testreport"
)

// Report is what a real tool has printed, in testdata/reports.
type Report struct {
	File, Format    string
	Passed, Skipped int
	Failed          []string // names, sorted
	Unrun           []string // of them, those behind which tests were not run
}

// ReadReport reads a report as a gate does, and gives what people read. Nil: nothing
// reads it.
func ReadReport(f testreport.Format, out []byte) (*testreport.Results, string) {
	var text bytes.Buffer
	var lines testreport.LineReader
	switch {
	case f.ReadFile != nil:
		return f.ReadFile(out), ""
	case f.ReadText != nil:
		lines = f.ReadText(&text)
	case f.Read != nil:
		lines = f.Read()
	default:
		return nil, string(out)
	}
	for line := range strings.Lines(string(out)) {
		if f.Read != nil {
			text.WriteString(line)
			line = strings.TrimRight(line, "\r\n")
		}
		lines.ReadLine(line)
	}
	return lines.Finish(), text.String()
}

func exerciseReporter(t *testing.T, r ecosystem.Reporter, f Fixture) {
	formats, read := append(testreport.Shared(), r.Formats()...), map[string]bool{}
	for _, want := range f.Reports {
		at := slices.IndexFunc(formats, func(f testreport.Format) bool { return f.Name == want.Format })
		if at < 0 {
			t.Errorf("%s: no format is called %q", want.File, want.Format)
			continue
		}
		read[want.Format] = true
		raw, err := os.ReadFile(filepath.Join("testdata", "reports", want.File))
		if err != nil {
			t.Fatal(err)
		}
		got, text := ReadReport(formats[at], raw)
		var failed []string
		for _, f := range got.Failed {
			failed = append(failed, f.Name)
		}
		slices.Sort(failed)
		unrun := company.GateCheck{Tests: got.Failed}.Unrun()
		slices.Sort(unrun)
		if got.ParseError != "" || !slices.Equal(failed, want.Failed) || !slices.Equal(unrun, want.Unrun) || len(got.Passed) != want.Passed || got.Skipped != want.Skipped {
			t.Errorf("%s: %s\n%q failed\n%q of them did not run, %d passed, %d skipped", want.File, got.ParseError, failed, unrun, len(got.Passed), got.Skipped)
		}
		if formats[at].Read != nil && text != string(raw) {
			t.Errorf("%s: people read %q", want.File, text)
		}
	}
	// What a container prints is untrusted, and may be a report of anything.
	for _, f := range r.Formats() {
		if !read[f.Name] {
			t.Errorf("no report of the fixture is %s", f.Name)
		}
		for _, text := range []string{"", "\x00\xff\n", "hello\n", "{}", "[", strings.Repeat("{", 1<<16), strings.Repeat("x\n", 1<<12)} {
			if got, _ := ReadReport(f, []byte(text)); got == nil || len(got.Failed) > 0 || len(got.Passed) > 0 {
				t.Errorf("%s: %.20q is a report: %+v", f.Name, text, got)
			}
		}
	}
	for _, p := range r.PlainReaders() {
		for range 1000 {
			p.ReadLine("Error 1: all is lost")
		}
		if got := p.Finish(); got != nil && (got.ParseError == "" || got.FailedCount > 0) {
			t.Errorf("%T takes any text for its own: %+v", p, got)
		}
	}
}
