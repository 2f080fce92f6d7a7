package ruby

import (
	"encoding/json"
	"strconv"
	"strings"

	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// The report formats of Ruby's runners.
const (
	formatRSpec = "rspec-json"
	formatTest  = "minitest" // also test-unit's format, because one rake task may run either
)

// Formats returns the report formats of Ruby's runners.
func (Ecosystem) Formats() []testreport.Format {
	return []testreport.Format{
		{Name: formatRSpec, ReadFile: readRSpec},
		{Name: formatTest, Read: func() testreport.LineReader { return &testOutput{} }},
	}
}

// PlainReaders returns readers for the text output of the runners.
func (Ecosystem) PlainReaders() []testreport.LineReader {
	return []testreport.LineReader{&testOutput{plain: true}, &specOutput{}}
}

// notLoaded matches the file name in RSpec's error for a file that it cannot load.
var notLoaded = lazyregexp.New(`An error occurred while loading (\S+?)\.?(?:\s|$)`)

// readRSpec reads RSpec's report in JSON.
func readRSpec(text []byte) *testreport.Results {
	var report struct {
		Examples []struct {
			Name   string `json:"full_description"`
			File   string `json:"file_path"`
			Status string
			Fault  struct{ Message string } `json:"exception"`
		}
		Messages []string
		Summary  *struct {
			Outside int `json:"errors_outside_of_examples_count"`
		}
	}
	res := &testreport.Results{}
	if json.Unmarshal(text, &report) != nil || report.Summary == nil {
		res.ParseError = "no report of RSpec"
		return res
	}
	for _, e := range report.Examples {
		name := strings.TrimPrefix(e.File, "./") + " " + e.Name
		switch e.Status {
		case "passed":
			res.AddPass(name)
		case "failed":
			res.AddFailure(name, e.Fault.Message)
		default:
			res.AddSkip()
		}
	}
	named := 0
	for _, message := range report.Messages {
		for _, m := range notLoaded.FindAllStringSubmatch(message, testreport.MaxNamedFailures) {
			named++
			res.AddUnrun(strings.TrimPrefix(m[1], "./"), message)
		}
	}
	if named == 0 && report.Summary.Outside > 0 {
		res.AddUnrun("(an error outside of the examples)", strings.Join(report.Messages, " "))
	}
	return res
}

// testOutput reads the output of minitest and test-unit.
type testOutput struct {
	res     testreport.Results
	plain   bool // the output also contains other text
	named   bool // the next line names a failure of minitest
	class   string
	began   bool // a runner has begun and not printed its summary yet
	any     bool
	failed  int // failures, as the runner counts them
	entries int
}

var (
	miniPassed  = lazyregexp.New(`^(\S+#.+) = [0-9.]+ s = ([.S])$`)
	miniFailed  = lazyregexp.New(`^\s+[0-9]+\) (?:Failure|Error):$`)
	miniName    = lazyregexp.New(`^(\S+#.+?)(?: \[[^\]]*\])?:$`)
	unitClass   = lazyregexp.New(`^\s*([A-Z]\w*(?:::[A-Z]\w*)*): ?$`)
	unitPassed  = lazyregexp.New(`^\s+(test[^:]*):\t+\.: \(`)
	unitSkipped = lazyregexp.New(`^(?:Omission|Pending): .*\[test.*\]$`)
	unitFailed  = lazyregexp.New(`^(?:Failure|Error): (test.*?\([A-Z][\w:]*\))`)
	testsBegin  = lazyregexp.New(`^(?:# Running:|Loaded suite .*)$`)
	testsSummed = lazyregexp.New(
		`^([0-9]{1,9}) (?:runs|tests), [0-9]{1,9} assertions, ([0-9]{1,9}) failures, ([0-9]{1,9}) errors`)
	unrunSummed = lazyregexp.New(`, ([0-9]{1,9}) (?:skips|pendings|omissions)\b`)
)

func (o *testOutput) ReadLine(s string) {
	s = strings.TrimRight(s, "\r")
	if o.named {
		if m := miniName.FindStringSubmatch(s); m != nil {
			o.named = false
			o.addFailure(m[1])
		}
		return
	}
	switch {
	case testsBegin.MatchString(s):
		o.endRun()
		o.began = true
	case miniFailed.MatchString(s):
		o.named = true
	case testsSummed.MatchString(s):
		var ran, failed, skipped int
		for i, count := range testsSummed.FindStringSubmatch(s)[1:] {
			n, _ := strconv.Atoi(count)
			if n = min(n, testreport.MaxTests); i == 0 {
				ran = n
			} else {
				failed += n
			}
		}
		for _, m := range unrunSummed.FindAllStringSubmatch(s, -1) {
			n, _ := strconv.Atoi(m[1])
			skipped += min(n, testreport.MaxTests)
		}
		o.failed += failed
		o.res.AddSummary(ran-failed-skipped, skipped)
		o.any, o.began = true, false
	}
	if m := miniPassed.FindStringSubmatch(s); m != nil {
		if m[2] == "." {
			o.res.AddPass(m[1])
		} else {
			o.res.AddSkip()
		}
		return
	}
	if m := unitFailed.FindStringSubmatch(s); m != nil {
		o.addFailure(m[1])
		return
	}
	if m := unitClass.FindStringSubmatch(s); m != nil {
		o.class = m[1]
		return
	}
	if unitSkipped.MatchString(s) {
		o.res.AddSkip()
		return
	}
	if m := unitPassed.FindStringSubmatch(s); m != nil {
		o.res.AddPass(m[1] + "(" + o.class + ")")
	}
}

func (o *testOutput) addFailure(name string) {
	o.entries++
	o.res.AddFailure(name, "")
}

// endRun records a run as incomplete if it has begun and printed no summary.
func (o *testOutput) endRun() {
	if o.began && len(o.res.Incomplete) < testreport.MaxNamedFailures {
		o.any = true
		o.res.Incomplete = append(o.res.Incomplete, testreport.NotEnded)
	}
	o.began = false
}

func (o *testOutput) Finish() *testreport.Results {
	o.endRun()
	if o.plain {
		return o.res.PlainResult(o.any, max(0, o.failed-o.entries))
	}
	if !o.any {
		o.res.ParseError = "not what minitest or test-unit print"
	}
	o.res.HoldCount(o.failed) // a test may print text into its own result line
	return &o.res
}

// specOutput reads the text output of RSpec.
type specOutput struct {
	res         testreport.Results
	any         bool
	failed, sum int
}

var (
	specFailed = lazyregexp.New(`^rspec (?:\./)?([^\s:\[]+)(?:[:\[][0-9:\]]+)? # (.+)$`)
	specSummed = lazyregexp.New(
		`^([0-9]{1,9}) examples?, ([0-9]{1,9}) failures?(?:, ([0-9]{1,9}) pending)?(?:, ([0-9]{1,9}) errors? occurred outside of examples)?$`)
)

func (o *specOutput) ReadLine(s string) {
	if m := specFailed.FindStringSubmatch(s); m != nil {
		o.failed++
		o.res.AddFailure(m[1]+" "+m[2], "")
		return
	}
	if m := notLoaded.FindStringSubmatch(s); m != nil {
		o.failed++
		o.res.AddUnrun(strings.TrimPrefix(m[1], "./"), "")
		return
	}
	if m := specSummed.FindStringSubmatch(s); m != nil {
		o.any = true
		var count [4]int // examples, failures, pending, errors outside of examples
		for i, text := range m[1:] {
			n, _ := strconv.Atoi(text)
			count[i] = min(n, testreport.MaxTests)
		}
		o.sum += count[1] + count[3]
		o.res.AddSummary(count[0]-count[1]-count[2], count[2])
	}
}

func (o *specOutput) Finish() *testreport.Results {
	return o.res.PlainResult(o.any, max(0, o.sum-o.failed))
}
