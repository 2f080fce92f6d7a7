package gates

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/safetext"
)

// Bounds of a check's report. A container may print what it likes: nothing here
// grows beyond these, and what does not fit makes the report one that was not
// understood, never a verdict.
const (
	maxLine          = 1 << 20   // one line, in bytes
	maxReport        = 32 << 20  // a report file, in bytes
	maxTests         = 200_000   // tests of one check
	maxNamedFailures = 1000      // failed tests that are named, per check
	maxMessages      = 100       // of them with what they say
	maxFailureBytes  = 128 << 10 // bytes of all of that, in the ledger
	maxName          = 200       // bytes of a test's name
	maxMessage       = 300       // bytes of what a failed test says
	maxMissingTests  = 20        // tests that are no longer reported
)

// testResults is what the report of one run of a check says.
type testResults struct {
	failed     []company.TestResult
	nFailed    int
	passed     []string
	skipped    int
	nameBytes  int            // bytes of failed
	seen       map[string]int // failures of each name: the second of a name has a name of its own
	incomplete []string       // what did not run to its end, as far as the report shows; counts where the check is red
	parseError string         // why it was not understood; empty: it was
}

func (r *testResults) isFull() bool {
	if len(r.passed)+r.nFailed+r.skipped < maxTests {
		return false
	}
	r.parseError = "more tests than can be counted"
	return true
}

func (r *testResults) addPass(name string) {
	if !r.isFull() {
		r.passed = append(r.passed, cleanName(name, maxName))
	}
}

func (r *testResults) addSkip() {
	if !r.isFull() {
		r.skipped++
	}
}

// addFailure counts a failure. Two failures of one name are two: one that was there
// before must not excuse another that is new.
func (r *testResults) addFailure(name, message string) { r.add(name, message, false) }

// addUnrun counts a failure behind which tests were not run: whatever broke in
// them has no name.
func (r *testResults) addUnrun(name, message string) { r.add(name, message, true) }

func (r *testResults) add(name, message string, unrun bool) {
	if r.isFull() {
		return
	}
	if name = cleanName(name, maxName); name == "" {
		name = "(no name)"
	}
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	if r.seen[name]++; r.seen[name] > 1 {
		name = fmt.Sprintf("%s #%d", name, r.seen[name])
	}
	r.nFailed++
	f := company.TestResult{Name: name, Status: "failed", Unrun: unrun}
	if len(r.failed) < maxMessages {
		f.Message = cleanName(message, maxMessage)
	}
	const around = 40 // bytes of JSON
	if r.nameBytes += len(f.Name) + len(f.Message) + around; len(r.failed) < maxNamedFailures && r.nameBytes <= maxFailureBytes {
		r.failed = append(r.failed, f)
	}
}

// counted holds the failures that were read against the runner's own count.
// What it counts beyond them has no name, and so excuses nothing.
func (r *testResults) counted(failed int) {
	if r.parseError == "" {
		r.nFailed = max(r.nFailed, failed)
	}
}

// applyTo writes the understood results into a check. A report of tests none of
// which failed, of a check that is red all the same (the coverage is too low, a
// step after the tests fails), is a failure with a name of its own: on a base
// like that a test that breaks is new.
func (r *testResults) applyTo(c *company.GateCheck) {
	if r == nil || r.parseError != "" {
		return
	}
	if c.ExitCode != 0 {
		for _, name := range r.incomplete {
			r.addUnrun(name, "fewer tests were reported than there are: their run was ended")
		}
	}
	if c.ExitCode != 0 && r.nFailed == 0 {
		if len(r.passed)+r.skipped == 0 {
			return // it says nothing
		}
		r.addFailure(fmt.Sprintf("(exit code %d, and no test failed)", c.ExitCode), "")
	}
	if r.parseError != "" {
		return
	}
	c.Counts = &company.TestCounts{Passed: len(r.passed), Failed: r.nFailed, Skipped: r.skipped}
	c.Tests = r.failed
}

// cleanName makes a name or message of a container's one bounded line of text. A
// name that is cut keeps a hash, so that it stays its own.
func cleanName(s string, most int) string {
	if s = safetext.StripLine(s); len(s) <= most {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return safetext.Head(s, most-10) + "…" + hex.EncodeToString(sum[:3])
}

// notEndedName is the failure of a run that does not say that it came to its end:
// what it did not come to is not known to be well.
const notEndedName = "(did not run to its end)"

// reportReader takes the standard output of a check apart: what people read goes on
// to text, and the report is collected.
type reportReader struct {
	text         io.Writer
	kind         string
	readLine     func(line []byte)
	finishReport func() *testResults

	partial  []byte       // of a line that is not whole
	long     bool         // the line is longer than can be read; its rest is only text
	file     bytes.Buffer // the report file in base64, lines and all
	inFile   bool         // the marker was there
	tooLarge bool         // the file is longer than can be read
}

// reportMarker is the line behind which a report file comes, in base64. The
// tested code may print it too: the last one counts, since the gate prints its
// own when nothing else runs any more.
const reportMarker = "company-report:"

// newReportReader reads a report of this kind.
func newReportReader(kind string, text io.Writer) *reportReader {
	r := &reportReader{text: text, kind: kind}
	switch kind {
	case ecosystem.FormatGoJSON:
		p := &goReport{text: text}
		r.readLine, r.finishReport = p.readLine, p.finishReport
	case ecosystem.FormatTAP:
		p := &tapReport{}
		r.readLine, r.finishReport = p.readLine, p.finishReport
	case ecosystem.FormatCargo:
		p := &cargoReport{}
		r.readLine, r.finishReport = p.readLine, p.finishReport
	case ecosystem.FormatUnittest:
		p := &unittestReport{}
		r.readLine, r.finishReport = p.readLine, p.finishReport
	case ecosystem.FormatFindings:
		p := &lintFindings{}
		r.readLine, r.finishReport = p.readLine, p.finishReport
	case ecosystem.FormatPlain:
		p := newPlainReport()
		r.readLine, r.finishReport = p.readLine, p.finishReport
	case ecosystem.FormatJUnit:
		r.finishReport = func() *testResults { return r.readReportFile(readJUnit) }
	case ecosystem.FormatJestJSON:
		r.finishReport = func() *testResults { return r.readReportFile(readJest) }
	}
	return r
}

// isFileReport says whether the report of this kind is a file.
func isFileReport(kind string) bool {
	return kind == ecosystem.FormatJUnit || kind == ecosystem.FormatJestJSON
}

// Write takes a piece of the output; it never fails, like output's.
func (r *reportReader) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		end := i + 1
		if i < 0 {
			end = len(p)
		}
		r.addPiece(p[:end], i >= 0)
		p = p[end:]
	}
	return n, nil
}

// addPiece adds a piece of a line, and reads the line when it is whole.
func (r *reportReader) addPiece(p []byte, whole bool) {
	if r.long || len(r.partial)+len(p) > maxLine {
		_, _ = r.text.Write(append(r.partial, p...))
		r.partial, r.long = r.partial[:0], !whole
		return
	}
	r.partial = append(r.partial, p...)
	if whole {
		r.flushLine()
	}
}

func (r *reportReader) flushLine() {
	line := r.partial
	switch {
	case isFileReport(r.kind) && string(bytes.TrimRight(line, "\r\n")) == reportMarker:
		_, _ = r.text.Write(r.file.Bytes()) // it was none
		r.file.Reset()
		r.inFile, r.tooLarge = true, false
	case r.inFile:
		const most = maxReport/3*4 + maxReport/50 // in base64, with its line ends
		if r.file.Len()+len(line) > most {
			r.tooLarge = true
			break
		}
		r.file.Write(line)
	case r.kind == ecosystem.FormatGoJSON:
		r.readLine(line) // it writes what people read by itself
	default:
		_, _ = r.text.Write(line)
		if r.readLine != nil {
			r.readLine(bytes.TrimRight(line, "\r\n"))
		}
	}
	r.partial = r.partial[:0]
}

// collectResults returns the results in the whole output, or nil where no
// reader understands it.
func (r *reportReader) collectResults() *testResults {
	if len(r.partial) > 0 {
		r.flushLine()
	}
	if r.finishReport == nil {
		return nil
	}
	return r.finishReport()
}

// readReportFile reads the report file.
func (r *reportReader) readReportFile(read func([]byte) *testResults) *testResults {
	if !r.inFile || r.tooLarge {
		return &testResults{parseError: "there is no report, or one that is too large"}
	}
	text, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(r.file.Bytes())))
	if err != nil || len(bytes.TrimSpace(text)) == 0 || len(text) > maxReport {
		return &testResults{parseError: "there is no report, or one that is too large"}
	}
	return read(text)
}
