package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
)

// testOptions are those of a user without a config, in a folder of the test.
func testOptions(t *testing.T) Options {
	t.Helper()
	home, temp := t.TempDir(), t.TempDir()
	environ := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "COMPANY_OFFICE=/the/users/own"}
	t.Cleanup(func() {
		for _, dir := range []string{home, temp} {
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left in %s: %v %v", filepath.Base(dir), left, err)
			}
		}
	})
	return Options{Program: "/gone", Dir: temp, Environ: environ}
}

// A case that cannot be begun has its fault in the report, the others are gone on with,
// and nothing is left or written to the user's folders.
func TestCasesWithFaults(t *testing.T) {
	dir := writeFiles(t, "set", map[string]string{
		"a/case.yaml": goodCase, "a/repo/a": "a\n", "a/hidden.patch": hiddenChanges,
		"b/case.yaml": goodCase, "b/repo/a": "a\n", "b/hidden.patch": newFile,
	})
	o := testOptions(t)
	r, err := Run(t.Context(), dir, o)
	if company.CodeOf(err) != company.EInvalid ||
		!strings.Contains(err.Error(), "2 of 2 cases came to no verdict: a, b") || len(r.Cases) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, want := range []string{"a/hidden.patch: the patch does not apply to the base",
		"company image failed"} {
		if c := r.Cases[i]; !strings.Contains(c.Fault, want) || len(c.Company.Attempts) > 0 || c.Company.Share.High != 1 {
			t.Errorf("%+v", c)
		}
	}

	o = testOptions(t)
	o.Only = []string{"a"}
	checked, err := Check(t.Context(), dir, o)
	if company.CodeOf(err) != company.EInvalid || len(checked.Cases) != 1 || checked.Cases[0].RedOnBase ||
		!strings.Contains(checked.RenderText(), "the patch does not apply") {
		t.Errorf("%+v, %v", checked, err)
	}

	over, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("ended by a person")
	cancel(ended)
	if r, err := Run(over, dir, testOptions(t)); !errors.Is(err, ended) || len(r.Cases) != 1 {
		t.Errorf("after an interrupt: %+v, %v", r, err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	dir := writeFiles(t, "set", map[string]string{"a/case.yaml": goodCase, "a/repo/a": "a\n", "a/hidden.patch": newFile})
	for name, c := range map[string]struct {
		set  func(*Options)
		code company.Code
		says string
	}{
		"no such case": {func(o *Options) { o.Only = []string{"b"} }, company.ENotFound, "there is no case b"},
		"below one":    {func(o *Options) { o.Repeat = -1 }, company.EUsage, "a case cannot be done so often"},
		"too often":    {func(o *Options) { o.Repeat = 5000 }, company.EUsage, "a case cannot be done so often"},
		"nowhere to work": {func(o *Options) { o.Dir = filepath.Join(o.Dir, "gone") }, company.EConfig,
			"no folder for the bench can be made"},
	} {
		o := testOptions(t)
		c.set(&o)
		if _, err := Run(t.Context(), dir, o); company.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
