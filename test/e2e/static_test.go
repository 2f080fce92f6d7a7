package e2e

import (
	"debug/elf"
	"testing"

	"company/test/testenv"
)

// The program is one file that needs no library of the machine (DST-1).
func TestProgramIsStatic(t *testing.T) {
	t.Parallel()
	f, err := elf.Open(testenv.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program has a segment %v: it is linked dynamically", p.Type)
		}
	}
}
