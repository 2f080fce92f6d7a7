package gates

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"

	"company/internal/company"
	"company/internal/safetext"
)

// Bounds on what is read of a check's report. A container may print what it
// likes: nothing here grows beyond these, and what does not fit makes the
// report one that was not understood, never a verdict.
const (
	maxLine    = 1 << 20   // one line, in bytes
	maxReport  = 32 << 20  // a report file, in bytes
	maxTests   = 200_000   // tests of one check
	maxNamed   = 1000      // failed tests that are named, per check
	maxSaying  = 100       // of them with what they say
	maxNaming  = 128 << 10 // bytes of all of that, in the ledger
	maxName    = 200       // bytes of a test's name
	maxMessage = 300       // bytes of what a failed test says
	maxGone    = 20        // tests that are no longer reported
)

// results is what the report of one run of a check says.
type results struct {
	failed  []company.TestResult
	nFailed int
	passed  []string
	skipped int
	naming  int            // bytes of failed
	seen    map[string]int // failures of each name: the second of a name has a name of its own
	cut     []string       // what did not run to its end, as far as the report shows; counts where the check is red
	odd     string         // why it was not understood; empty: it was
}

func (r *results) full() bool {
	if len(r.passed)+r.nFailed+r.skipped < maxTests {
		return false
	}
	r.odd = "more tests than can be counted"
	return true
}

func (r *results) pass(name string) {
	if !r.full() {
		r.passed = append(r.passed, clean(name, maxName))
	}
}

func (r *results) skip() {
	if !r.full() {
		r.skipped++
	}
}

// fail counts a failure. Two failures of one name are two: one that was there
// before must not excuse another that is new.
func (r *results) fail(name, message string) { r.add(name, message, false) }

// unrun counts a failure behind which tests were not run: whatever broke in
// them has no name.
func (r *results) unrun(name, message string) { r.add(name, message, true) }

func (r *results) add(name, message string, unrun bool) {
	if r.full() {
		return
	}
	if name = clean(name, maxName); name == "" {
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
	if len(r.failed) < maxSaying {
		f.Message = clean(message, maxMessage)
	}
	const around = 40 // bytes of JSON
	if r.naming += len(f.Name) + len(f.Message) + around; len(r.failed) < maxNamed && r.naming <= maxNaming {
		r.failed = append(r.failed, f)
	}
}

// counted holds the failures that were read against the runner's own count.
// What it counts beyond them has no name, and so excuses nothing.
func (r *results) counted(failed int) {
	if r.odd == "" {
		r.nFailed = max(r.nFailed, failed)
	}
}

// into writes what was understood into a check. A report of tests none of
// which failed, of a check that is red all the same (the coverage is too low,
// a step after the tests fails), is a failure with a name of its own: on a
// base like that a test that breaks is new.
func (r *results) into(c *company.GateCheck) {
	if r == nil || r.odd != "" {
		return
	}
	if c.ExitCode != 0 {
		for _, name := range r.cut {
			r.unrun(name, "fewer tests were reported than there are: their run was ended")
		}
	}
	if c.ExitCode != 0 && r.nFailed == 0 {
		if len(r.passed)+r.skipped == 0 {
			return // it says nothing
		}
		r.fail(fmt.Sprintf("(exit code %d, and no test failed)", c.ExitCode), "")
	}
	if r.odd != "" {
		return
	}
	c.Counts = &company.TestCounts{Passed: len(r.passed), Failed: r.nFailed, Skipped: r.skipped}
	c.Tests = r.failed
}

// clean makes a name or message of a container's one bounded line of text. A
// name that is cut keeps a hash, so that it stays its own.
func clean(s string, most int) string {
	if s = safetext.StripLine(s); len(s) <= most {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return safetext.Head(s, most-10) + "…" + hex.EncodeToString(sum[:3])
}

// unended is the failure of a run that does not say that it came to its end:
// what it did not come to is not known to be well.
const unended = "(did not run to its end)"

// reader takes the standard output of a check apart: what people read goes on
// to text, and the report is collected.
type reader struct {
	text io.Writer
	kind string
	line func(line []byte)
	done func() *results

	part   []byte       // of a line that is not whole
	long   bool         // the line is longer than can be read; its rest is only text
	file   bytes.Buffer // the report file in base64, lines and all
	inFile bool         // the marker was there
	over   bool         // the file is longer than can be read
}

// reportMarker is the line behind which a report file comes, in base64. What
// is tested may print it too: the last one counts, since the gate prints its
// own when nothing else runs any more.
const reportMarker = "company-report:"

// newReader reads a report of this kind.
func newReader(kind string, text io.Writer) *reader {
	r := &reader{text: text, kind: kind}
	switch kind {
	case GoJSON:
		p := &goReport{text: text}
		r.line, r.done = p.line, p.done
	case TAP:
		p := &tapReport{}
		r.line, r.done = p.line, p.done
	case Cargo:
		p := &cargoReport{}
		r.line, r.done = p.line, p.done
	case Unittest:
		p := &unittestReport{}
		r.line, r.done = p.line, p.done
	case Lines:
		p := &findings{}
		r.line, r.done = p.line, p.done
	case Plain:
		p := newPlainReport()
		r.line, r.done = p.line, p.done
	case JUnit:
		r.done = func() *results { return r.fromFile(readJUnit) }
	case JestJSON:
		r.done = func() *results { return r.fromFile(readJest) }
	}
	return r
}

// fromFile says whether the report of this kind is a file.
func fromFile(kind string) bool { return kind == JUnit || kind == JestJSON }

// Write takes a piece of the output; it never fails, like output's.
func (r *reader) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		end := i + 1
		if i < 0 {
			end = len(p)
		}
		r.take(p[:end], i >= 0)
		p = p[end:]
	}
	return n, nil
}

// take adds a piece of a line, and reads the line when it is whole.
func (r *reader) take(p []byte, whole bool) {
	if r.long || len(r.part)+len(p) > maxLine {
		_, _ = r.text.Write(append(r.part, p...))
		r.part, r.long = r.part[:0], !whole
		return
	}
	r.part = append(r.part, p...)
	if whole {
		r.flush()
	}
}

func (r *reader) flush() {
	line := r.part
	switch {
	case fromFile(r.kind) && string(bytes.TrimRight(line, "\r\n")) == reportMarker:
		_, _ = r.text.Write(r.file.Bytes()) // it was none
		r.file.Reset()
		r.inFile, r.over = true, false
	case r.inFile:
		const most = maxReport/3*4 + maxReport/50 // in base64, with its line ends
		if r.file.Len()+len(line) > most {
			r.over = true
			break
		}
		r.file.Write(line)
	case r.kind == GoJSON:
		r.line(line) // it writes what people read by itself
	default:
		_, _ = r.text.Write(line)
		if r.line != nil {
			r.line(bytes.TrimRight(line, "\r\n"))
		}
	}
	r.part = r.part[:0]
}

// results is what the whole output said, or nil where nothing reads it.
func (r *reader) results() *results {
	if len(r.part) > 0 {
		r.flush()
	}
	if r.done == nil {
		return nil
	}
	return r.done()
}

// fromFile reads the report file.
func (r *reader) fromFile(read func([]byte) *results) *results {
	if !r.inFile || r.over {
		return &results{odd: "there is no report, or one that is too large"}
	}
	text, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(r.file.Bytes())))
	if err != nil || len(bytes.TrimSpace(text)) == 0 || len(text) > maxReport {
		return &results{odd: "there is no report, or one that is too large"}
	}
	return read(text)
}
