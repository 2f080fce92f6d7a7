package hosttest_test

import (
	"flag"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"

	"company/internal/lib/hosttest"
)

// recorder is a test that notes how it was ended.
type recorder struct {
	testing.TB
	skipped, failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Skip(...any)           { r.skipped = true }
func (r *recorder) Skipf(string, ...any)  { r.skipped = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; panic(r) }

func TestLacks(t *testing.T) {
	for ci, want := range map[string]recorder{"": {skipped: true}, "1": {failed: true}} {
		t.Setenv("CI", ci)
		got := recorder{}
		func() {
			defer func() { _ = recover() }()
			hosttest.Lacks(&got, "no %s", "cargo")
		}()
		if got != want {
			t.Errorf("CI=%q: skipped %t, failed %t", ci, got.skipped, got.failed)
		}
	}
}

// TestShortSkips: -short skips what needs Docker and what takes long, also with
// CI set; without it both run.
func TestShortSkips(t *testing.T) {
	was := flag.Lookup("test.short").Value.String()
	t.Cleanup(func() { setShort(t, was) })
	t.Setenv("CI", "1")
	for short, want := range map[string]recorder{"true": {skipped: true}, "false": {}} {
		setShort(t, short)
		if got := hosttest.Short(); got != want.skipped {
			t.Errorf("-short=%s: Short is %t", short, got)
		}
		for name, ask := range map[string]func(testing.TB){
			"NeedsDocker": hosttest.NeedsDocker,
			"Long":        func(t testing.TB) { hosttest.Long(t, "a minute of waiting") },
		} {
			got := recorder{}
			ask(&got)
			if got != want {
				t.Errorf("-short=%s, %s: skipped %t, failed %t", short, name, got.skipped, got.failed)
			}
		}
	}
}

// TestVariants: a variant runs where it is asked for, and is never short.
func TestVariants(t *testing.T) {
	was := flag.Lookup("test.short").Value.String()
	t.Cleanup(func() { setShort(t, was) })
	for _, c := range []struct {
		asked, short         string
		skipped, longSkipped bool
	}{{"", "false", true, true}, {"1", "false", false, true}, {"all", "false", false, false}, {"1", "true", true, true},
		{"all", "true", true, true}} {
		t.Setenv("COMPANY_TEST_VARIANTS", c.asked)
		setShort(t, c.short)
		got := recorder{}
		if hosttest.Variant(&got, "one more version"); got.skipped != c.skipped {
			t.Errorf("%+v: skipped %t", c, got.skipped)
		}
		long := recorder{}
		if hosttest.LongVariant(&long, "a project of others"); long.skipped != c.longSkipped {
			t.Errorf("%+v: the long one was skipped %t", c, long.skipped)
		}
	}
}

// TestNotRaced: NotRaced skips a test under the race detector alone.
func TestNotRaced(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("this program does not know how it was built")
	}
	under := slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
	got := recorder{}
	if hosttest.NotRaced(&got, "programs of others"); got.skipped != under {
		t.Errorf("under the race detector: %t, skipped: %t", under, got.skipped)
	}
}

func setShort(t *testing.T, value string) {
	t.Helper()
	if err := flag.Set("test.short", value); err != nil {
		t.Fatal(err)
	}
}

// TestSampled: a third runs, others at the next commit, the same again at the same; all
// run where nothing is asked for, or variants are.
func TestSampled(t *testing.T) {
	const rows = 300
	drawn := func(asked, asksVariants string) []int {
		t.Setenv("COMPANY_TEST_SAMPLE", asked)
		t.Setenv("COMPANY_TEST_VARIANTS", asksVariants)
		var out []int
		for i := range rows {
			got := named{name: fmt.Sprint("TestTable/", i)}
			hosttest.Sampled(&got)
			if !got.skipped {
				out = append(out, i)
			}
		}
		return out
	}
	one, other := drawn("3 4fd1c02", ""), drawn("3 4fd1c03", "")
	if len(one) < rows/4 || len(one) > rows/2 || slices.Equal(one, other) || !slices.Equal(one, drawn("3 4fd1c02", "")) {
		t.Errorf("of %d rows a commit draws %v, the next one %v", rows, one, other)
	}
	for _, all := range [][]int{drawn("", ""), drawn("3 4fd1c02", "1"), drawn("1 4fd1c02", "")} {
		if len(all) != rows {
			t.Errorf("%d rows run, want all %d", len(all), rows)
		}
	}
	for _, asked := range []string{"3", "x y", "0 4fd1c02", "-1 4fd1c02"} {
		t.Setenv("COMPANY_TEST_SAMPLE", asked)
		t.Setenv("COMPANY_TEST_VARIANTS", "")
		got := recorder{}
		func() {
			defer func() { _ = recover() }()
			hosttest.Sampled(&got)
		}()
		if !got.failed {
			t.Errorf("%q is taken", asked)
		}
	}
}

// named is a recorder that has a name.
type named struct {
	recorder
	name string
}

func (n *named) Name() string { return n.name }
