package cli

import (
	"strings"
	"testing"
	"testing/fstest"
)

// run runs the command with a file and an input.
func run(args ...string) (code int, out, errs string) {
	var o, e strings.Builder
	code = Run(Env{
		Files: fstest.MapFS{"goods.csv": {Data: []byte("name,price\nsaw,20\nrope,4.5\n")}},
		In:    strings.NewReader("name,price\nhoe,9\n"),
		Out:   &o,
		Err:   &e,
	}, args)
	return code, o.String(), e.String()
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"sort price", "goods.csv"}, "name,price\nrope,4.5\nsaw,20\n"},
		{[]string{"first 1"}, "name,price\nhoe,9\n"},
		{[]string{"-show", "sort  price|first 1"}, "sort price | first 1\n"},
	} {
		if code, out, errs := run(test.args...); code != 0 || out != test.want {
			t.Errorf("%q: exit %d, %s%s", test.args, code, out, errs)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
	}{
		{nil, 2},
		{[]string{"first 1", "goods.csv", "more"}, 2},
		{[]string{"first"}, 2},
		{[]string{"-fast", "first 1"}, 2},
		{[]string{"sort size", "goods.csv"}, 1},
		{[]string{"first 1", "none.csv"}, 1},
	} {
		if code, out, errs := run(test.args...); code != test.code || out != "" || errs == "" {
			t.Errorf("%q: exit %d, %s%s", test.args, code, out, errs)
		}
	}
}
