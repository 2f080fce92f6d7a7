package app

import (
	"company/internal/hosttest"
	"os"
	"slices"
	"strings"
	"testing"
)

// Only what is exactly as in the file may be dropped.
func TestUnmodifiedMappings(t *testing.T) {
	const clean = "Rss: 4 kB\nShared_Dirty: 0 kB\nPrivate_Dirty: 0 kB\nAnonymous: 0 kB\nSwap: 0 kB\nLocked: 0 kB\nVmFlags: rd ex\n"
	part := func(head, body string) string { return head + "\n" + body }
	smaps := strings.Join([]string{
		part("00400000-00500000 r-xp 00000000 08:01 42                       /bin/company", clean),
		part("00500000-00600000 r--p 00100000 08:01 42                       /bin/company", strings.Replace(clean, "Swap: 0", "Swap: 8", 1)),
		part("00600000-00700000 rw-p 00200000 08:01 42                       /bin/company", clean),
		part("00700000-00800000 r--p 00200000 08:01 42                       /bin/company", strings.Replace(clean, "Anonymous: 0", "Anonymous: 4", 1)),
		part("00800000-00900000 r--p 00200000 08:01 43                       /lib/company", clean),
		part("00900000-00a00000 r--p 00000000 00:00 0 ", clean),
		part("00a00000-00b00000 r--p 00300000 08:01 42                       /bin/company", clean),
	}, "")
	want := []memoryMapping{{0x400000, 0x500000}, {0xa00000, 0xb00000}}
	if got := unmodifiedMappings([]byte(smaps), "/bin/company"); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if got := unmodifiedMappings([]byte("nonsense\n00-"), "/bin/company"); len(got) != 0 {
		t.Errorf("%x", got)
	}
}

// The program goes on after its code was dropped, and nothing of it has
// changed.
func TestReleaseMemory(t *testing.T) {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		hosttest.Lacks(t, "no /proc here")
	}
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if len(unmodifiedMappings(text, exe)) == 0 {
		t.Error("no mapping of the test's own program is found")
	}
	for range 3 {
		releaseMemory()
	}
	if got := strings.Repeat("ab", 3); got != "ababab" {
		t.Error(got)
	}
}
