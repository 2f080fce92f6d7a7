package golang

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
	"company/internal/ecosystem/testreport"
)

// People see what go test prints, and not its JSON.
func TestGoText(t *testing.T) {
	raw, err := os.ReadFile("testdata/reports/go.json")
	if err != nil {
		t.Fatal(err)
	}
	_, text := ecosystemtest.ReadReport(Ecosystem{}.Formats()[0], append([]byte("a line of something else\n"), raw...))
	for _, want := range []string{"a line of something else\n", "bad/a_test.go:3:27: undefined: y\n",
		"FAIL\texample.com/m/bad [build failed]\n", "dying\n",
		"--- FAIL: TestBad/in (0.00s)\n    a_test.go:4: 1 is not 2\n", "?   \texample.com/m/none\t[no test files]\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, not := range []string{"{", "=== RUN", "quiet", "PASS"} {
		if strings.Contains(text, not) {
			t.Errorf("%q in\n%s", not, text)
		}
	}
}

// The message of a failed test keeps its lines, and only its blank ones go.
func TestMessagesKeepTheirLines(t *testing.T) {
	res, _ := ecosystemtest.ReadReport(Ecosystem{}.Formats()[0], []byte(`{"Action":"run","Package":"p","Test":"T"}
{"Action":"output","Package":"p","Test":"T","Output":"=== RUN   T\n"}
{"Action":"output","Package":"p","Test":"T","Output":"    a_test.go:4: got 1,\t\u001b[1mwant 2\r\n"}
{"Action":"output","Package":"p","Test":"T","Output":"\n"}
{"Action":"output","Package":"p","Test":"T","Output":"--- FAIL: T (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"T"}
`))
	if len(res.Failed) != 1 || res.Failed[0].Message != "a_test.go:4: got 1, [1mwant 2\n--- FAIL: T (0.00s)" {
		t.Errorf("%+v", res.Failed)
	}
}

// What tests print is held until they end, within bounds.
func TestHeldOutputIsBounded(t *testing.T) {
	g := &goReport{text: &bytes.Buffer{}}
	g.ReadLine(`{"Action":"run","Package":"p","Test":"T"}`)
	out := `{"Action":"output","Package":"p","Test":"T","Output":"` + strings.Repeat("z", 1<<19) + `"}`
	for range 100 {
		g.ReadLine(out)
	}
	if g.held > maxHeldOutput {
		t.Errorf("%d bytes are held", g.held)
	}
}

// What a container may call packages and tests costs the host no memory.
func TestGoNamesAreBounded(t *testing.T) {
	g := &goReport{text: io.Discard}
	long := strings.Repeat("n", 16*testreport.MaxName)
	for i := range 200 {
		g.ReadLine(fmt.Sprintf(`{"Action":"run","Package":"%s%d","Test":"%s%d"}`, long, i, long, i))
	}
	held := 0
	for name, p := range g.pkgs {
		held += len(name)
		for test := range p.open {
			held += len(test)
		}
	}
	if len(g.pkgs) != 200 || held > 200*2*testreport.MaxName {
		t.Errorf("%d packages, %d bytes of names", len(g.pkgs), held)
	}
	g = &goReport{text: io.Discard, open: testreport.MaxTests}
	if g.ReadLine(`{"Action":"run","Package":"p","Test":"T"}`); g.res.ParseError == "" || len(g.pkgs["p"].open) > 0 {
		t.Error("more tests under way than can be read")
	}
}

// When a run dies, the one test that was under way has ended it; of several each may have,
// and where one failed before it is not known either.
func TestUnderWayWhenTheRunDies(t *testing.T) {
	line := func(action, test string) string {
		return `{"Action":"` + action + `","Package":"x/a","Test":"` + test + `"}` + "\n"
	}
	died := `{"Action":"fail","Package":"x/a"}` + "\n"
	for name, c := range map[string]struct {
		lines  string
		unsure string
	}{
		"one":                     {line("run", "TestA") + line("run", "TestA/case"), ""},
		"two":                     {line("run", "TestA") + line("run", "TestB"), "x/a TestA,x/a TestB"},
		"one, others wait":        {line("run", "TestA") + line("pause", "TestA") + line("run", "TestB"), ""},
		"one beside a failed one": {line("run", "TestA") + line("fail", "TestA") + line("run", "TestB"), "x/a TestB"},
	} {
		g := &goReport{text: io.Discard}
		for l := range strings.Lines(c.lines + died) {
			g.ReadLine(l)
		}
		if res := g.Finish(); strings.Join(res.Unsure, ",") != c.unsure {
			t.Errorf("%s: %q of %+v", name, res.Unsure, res.Failed)
		}
	}
}

// The rest of a package's tests is run one behind the other; what is a subtest is left out
// with its test.
func TestRestCommand(t *testing.T) {
	got := Ecosystem{}.RestCommand(
		"go list ./...\nGOFLAGS=-mod=mod go test -json -short",
		[]string{"x/a TestB/one/two", "x/a TestA", "x/a TestB", "x/a (package failed)"}, []string{"x/a"})
	want := `GOFLAGS=-mod=mod go test -json -short 'x/a' -failfast=false -parallel=1 -skip='^(?:TestA|TestB)$'`
	if strings.ReplaceAll(got, "'x/a'", "x/a") != strings.ReplaceAll(want, "'x/a'", "x/a") {
		t.Errorf("%s", got)
	}
}

// The go command misses a C compiler only if it ran no tests of any package.
func TestGoCannotStart(t *testing.T) {
	const missing = "# runtime/cgo\ncgo: C compiler \"gcc\" not found: exec: \"gcc\": executable file not found in $PATH\n" +
		"FAIL\tx/c [build failed]\n"
	for output, want := range map[string]bool{
		"go: -race requires cgo; enable cgo by setting CGO_ENABLED=1\n": true,
		missing:                       true,
		"ok  \tx/a\t0.1s\n" + missing: false,
		"--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tx/a\t0.002s\n" + missing:                    false,
		"--- FAIL: TestB\ngo: -race requires cgo, says the test\nFAIL\nFAIL\tx\t0.002s\n": false,
	} {
		if got := (Ecosystem{}).CannotStart("go test ./...", 1, output); got != want {
			t.Errorf("%q: %t", output, got)
		}
	}
}
