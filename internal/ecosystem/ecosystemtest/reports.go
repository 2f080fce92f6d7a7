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
	"company/internal/ecosystem/testreport"
)

// Report is the output of a real tool, in testdata/reports.
type Report struct {
	File, Format    string
	Passed, Skipped int
	Failed          []string // names, sorted
	Unrun           []string // names in Failed whose tests did not run
}

// ReadReport reads a report as a gate does, and also returns the text for users. The results are nil if the format
// has no reader.
func ReadReport(format testreport.Format, out []byte) (*testreport.Results, string) {
	var text bytes.Buffer
	var lines testreport.LineReader
	switch {
	case format.ReadFile != nil:
		return format.ReadFile(out), ""
	case format.ReadText != nil:
		lines = format.ReadText(&text)
	case format.Read != nil:
		lines = format.Read()
	default:
		return nil, string(out)
	}
	for line := range strings.Lines(string(out)) {
		if format.Read != nil {
			text.WriteString(line)
			line = strings.TrimRight(line, "\r\n")
		}
		lines.ReadLine(line)
	}
	return lines.Finish(), text.String()
}

func exerciseReporter(t *testing.T, reporter ecosystem.Reporter, fixture Fixture) {
	formats, read := append(testreport.Shared(), reporter.Formats()...), map[string]bool{}
	for _, want := range fixture.Reports {
		index := slices.IndexFunc(formats, func(f testreport.Format) bool { return f.Name == want.Format })
		if index < 0 {
			t.Errorf("%s: no format is called %q", want.File, want.Format)
			continue
		}
		read[want.Format] = true
		raw, err := os.ReadFile(filepath.Join("testdata", "reports", want.File))
		if err != nil {
			t.Fatal(err)
		}
		got, text := ReadReport(formats[index], raw)
		var failed []string
		for _, f := range got.Failed {
			failed = append(failed, f.Name)
		}
		slices.Sort(failed)
		unrun := company.GateCheck{Tests: got.Failed}.Unrun()
		slices.Sort(unrun)
		if got.ParseError != "" || !slices.Equal(failed, want.Failed) || !slices.Equal(unrun, want.Unrun) ||
			len(got.Passed) != want.Passed || got.Skipped != want.Skipped {
			t.Errorf("%s: %s\n%q failed\n%q of them did not run, %d passed, %d skipped", want.File, got.ParseError, failed,
				unrun, len(got.Passed), got.Skipped)
		}
		if formats[index].Read != nil && text != string(raw) {
			t.Errorf("%s: people read %q", want.File, text)
		}
	}
	// A container's output is untrusted and may look like any report.
	for _, format := range reporter.Formats() {
		if !read[format.Name] {
			t.Errorf("no report of the fixture is %s", format.Name)
		}
		for _, text := range []string{"", "\x00\xff\n", "hello\n", "{}", "[", strings.Repeat("{", 1<<16),
			strings.Repeat("x\n", 1<<12)} {
			if got, _ := ReadReport(format, []byte(text)); got == nil || len(got.Failed) > 0 || len(got.Passed) > 0 {
				t.Errorf("%s: %.20q is a report: %+v", format.Name, text, got)
			}
		}
	}
	for _, lineReader := range reporter.PlainReaders() {
		for range 1000 {
			lineReader.ReadLine("Error 1: all is lost")
		}
		if got := lineReader.Finish(); got != nil && (got.ParseError == "" || got.FailedCount > 0) {
			t.Errorf("%T takes any text for its own: %+v", lineReader, got)
		}
	}
}
