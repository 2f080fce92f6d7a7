package gates

import (
	"bytes"
	"encoding/base64"
	"io"
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem/testreport"
)

// inLines is a text as base64 prints it.
func inLines(s string) string {
	const wide = 76
	var b strings.Builder
	for len(s) > wide {
		b.WriteString(s[:wide] + "\n")
		s = s[wide:]
	}
	return b.String() + s + "\n"
}

// What is tested may print a marker and a report of its own: the last one is
// the gate's.
func TestForgedReport(t *testing.T) {
	var text bytes.Buffer
	r := newReportReader(testreport.FormatJUnit, &text)
	junit := func(inside string) string {
		return reportMarker + "\n" + inLines(base64.StdEncoding.EncodeToString([]byte("<testsuite>"+inside+"</testsuite>")))
	}
	forged := junit(`<testcase name="old"><failure/></testcase>`)
	_, _ = io.WriteString(r, "before\n"+forged+"after\n"+junit(`<testcase name="new"><failure/></testcase>`))
	if res := r.collectResults(); res.ParseError != "" || !slices.Equal(testNames(res.Failed), []string{"new"}) {
		t.Errorf("%+v", res)
	}
	if got := text.String(); !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "after\n") {
		t.Errorf("%q", got)
	}
	r = newReportReader(testreport.FormatJUnit, io.Discard)
	_, _ = io.WriteString(r, forged+"no base64 here\n")
	if res := r.collectResults(); res.ParseError == "" {
		t.Errorf("%+v", res)
	}
}

// A file that never comes: the command died before it.
func TestReportWithoutItsFile(t *testing.T) {
	r := newReportReader(testreport.FormatJUnit, &bytes.Buffer{})
	if _, _ = r.Write([]byte("text\n")); r.collectResults().ParseError == "" {
		t.Error("a report without its file")
	}
}

// A hostile check prints without end: what is kept is bounded.
func TestReportsAreBounded(t *testing.T) {
	var text bytes.Buffer
	r := newReportReader("go-json", &text)
	long := bytes.Repeat([]byte("y"), maxLine/2)
	for range 9 {
		_, _ = r.Write(long)
	}
	_, _ = r.Write([]byte("\n{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"T\"}\n"))
	if res := r.collectResults(); len(res.Passed) != 1 || text.Len() != 9*len(long)+1 {
		t.Errorf("%d passed, %d bytes of text", len(res.Passed), text.Len())
	}
	r = newReportReader(testreport.FormatJUnit, io.Discard)
	_, _ = io.WriteString(r, reportMarker+"\n")
	lines := []byte(strings.Repeat(strings.Repeat("A", 76)+"\n", 1000))
	for range 2*maxReport/len(lines) + 2 {
		_, _ = r.Write(lines)
	}
	if res := r.collectResults(); res.ParseError == "" || r.file.Len() > 2*maxReport {
		t.Errorf("%d bytes of a report", r.file.Len())
	}
}

// A difference is that of lines, whatever their numbers are.
func TestDiffLines(t *testing.T) {
	was := "a_test.go:3: no\nok  \tm\t0.013s\n--- FAIL: TestOld (0.00s)\nat 0xc000123456\n"
	for is, want := range map[string]string{
		was: "",
		"ok  \tm\t1.2s\n--- FAIL: TestOld (1.30s)\na_test.go:77: no\nat 0xc0aa\n": "",
		was + "--- FAIL: TestOld (0.00s)\n":                                       "--- FAIL: TestOld (#)\n",
		was + "b.go:9:2: undefined: x\n\n":                                        "b.go:#: undefined: x\n",
		"":                                                                        "",
	} {
		if got := diffLines(is, was); got != want {
			t.Errorf("%q: %q", is, got)
		}
	}
	if got := diffLines(strings.Repeat("x"+strings.Repeat("y", 150)+"\n", 500), ""); len(got) > maxDiffBytes+400 ||
		!strings.HasSuffix(got, " more lines]\n") {
		t.Errorf("%d bytes", len(got))
	}
}
