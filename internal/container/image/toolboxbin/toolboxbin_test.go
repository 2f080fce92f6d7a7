package toolboxbin

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"company/internal/company"
)

// Whether the binaries are built depends on the checkout; each state has its
// contract.
func TestBinary(t *testing.T) {
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		data, err := Binary(arch)
		if _, statErr := fs.Stat(embeddedFiles, "toolbox-linux-"+arch); errors.Is(statErr, fs.ErrNotExist) {
			requireRunMake(t, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 12<<20 {
			t.Errorf("%s: %d bytes", arch, len(data))
		}
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if libs, _ := f.ImportedLibraries(); f.Machine != machine || len(libs) > 0 || f.Section(".interp") != nil {
			t.Errorf("%s: machine %v, libraries %v: not a static binary for it", arch, f.Machine, libs)
		}
		sum := sha256.Sum256(data)
		if h, err := Hash(arch); err != nil || h != company.Hash(hex.EncodeToString(sum[:])) {
			t.Errorf("%s: hash %s, %v", arch, h, err)
		}
	}
	for _, arch := range []string{"", "386", "../amd64"} {
		if _, err := Hash(arch); company.CodeOf(err) != company.EImage {
			t.Errorf("%q: %v", arch, err)
		}
	}
}

func requireRunMake(t *testing.T, err error) {
	t.Helper()
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.EImage || !strings.Contains(e.Hint, "make") {
		t.Fatalf("got %v, want E_IMAGE that says to run make", err)
	}
}
