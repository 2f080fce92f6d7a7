package makefile

import (
	"slices"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// TestCompileGoals: the base is compiled by goals that build, and no test is run.
func TestCompileGoals(t *testing.T) {
	for _, c := range []struct {
		makefile string
		want     []string
	}{
		{"prog: a.o\n\t$(CC) -o $@ $^\ntest: prog\n\t./prog\n", []string{"prog"}},
		{"help:\n\techo\nall: prog\ntest: all\n\t./prog\n", []string{"all"}},
		{"test: t1 t2\nt1: t1.c\n\tgcc -o t1 t1.c\nt2: t1\n\t./t1\n", []string{"t1"}},
		{"test:\n\t./run.sh\n", nil},
		{"clean:\n\trm -f a\ncheck: clean\n\ttrue\n", nil},
		{".PHONY: all\n%.o: %.c\n\tcc -c $<\nall: a.o\ncheck: check-a\ncheck-a: t\n\t./t\n", []string{"all"}},
		{"all: prog test install\nprog: a.o\n\tcc -o $@ $^\ntest: prog\n\t./prog\ninstall:\n\tcp prog /usr/bin\n",
			[]string{"prog"}},
		{"all: prog\n\t$(MAKE) test\nprog: a.o\n\tcc -o $@ $^\ntest:\n\t./prog\n", []string{"prog"}},
		{"watch:\n\twhile :; do make all-files; done\ntest: prog\n\t./prog\n", nil},
		{"all: check\ncheck:\n\t./run\n", nil},
		{"all: prog\nprog: a.o test\n\tcc -o prog a.o\ntest:\n\t./run\n", nil},
		{"all: x\nx: lib y\nlib: lib.o\n\tar r lib.a lib.o\ny: z\nz: y lib\n\tmake -s check\n\tmake check\ncheck:\n\t./run\n",
			[]string{"lib"}},
		{"", nil},
	} {
		got := Ecosystem{}.compileGoals(ecosystemtest.Tree(map[string]string{"Makefile": c.makefile}))
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.makefile, got, c.want)
		}
	}
}
