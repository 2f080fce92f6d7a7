package cli

import (
	"strings"
	"testing"
	"testing/fstest"
)

// run runs a command on these files, and returns its exit code and what it wrote.
func run(journal string, args ...string) (code int, out, errs string) {
	var o, e strings.Builder
	code = Run(Env{Files: fstest.MapFS{
		"closed.txt":  {Data: []byte("Sunday\n05-01 May Day\n12-25 Christmas\n2023-08-14 stocktaking\n")},
		"journal.txt": {Data: []byte(journal)},
	}, Out: &o, Err: &e}, args)
	return code, o.String(), e.String()
}

const spring = `
2023-03-01 lend drill-2 jo
2023-03-06 lend saw ann
2023-03-22 renew drill-2
2023-04-03 return saw
2023-04-10 lend hoe kim
2023-04-12 return drill-2
`

func TestLoansAndLate(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"loans 2023-03-23", "drill-2    jo       due 2023-04-12\nsaw        ann      due 2023-03-27\n"},
		{"loans 2023-04-30", "hoe        kim      due 2023-05-02\n"},
		{"late 2023-03-27", ""},
		{"late 2023-03-28", "saw        ann      since 2023-03-27\n"},
	} {
		if code, out, errs := run(spring, strings.Fields(test.args)...); code != 0 || out != test.want {
			t.Errorf("%s: exit %d, %s%s", test.args, code, out, errs)
		}
	}
}

func TestFees(t *testing.T) {
	code, out, errs := run(spring, "fees", "2023-05-03")
	if want := "ann        2.40\nkim        0.40\n"; code != 0 || out != want {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

func TestDays(t *testing.T) {
	code, out, errs := run("", "days", "2023-04-29", "2023-05-02")
	if want := "2023-04-30 Sun closed\n2023-05-01 Mon May Day\n"; code != 0 || out != want {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}
