package safetext

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What programs draw in place is seen as it stands in the end.
func TestShowScreen(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"plain":     {"one\ntwo\n\nthree", "one\ntwo\n\nthree"},
		"empty":     {"", ""},
		"line ends": {"one\r\ntwo\r\r\nthree\r\n", "one\ntwo\nthree\n"},
		"git": {
			"Receiving objects:  50% (1/2)\rReceiving objects: 100% (2/2" +
				")\rReceiving objects: 100% (2/2), done.\nx\n",
			"Receiving objects: 100% (2/2), done.\nx\n",
		},
		"a shorter frame": {"Downloading 100%\rdone\n", "done\n"},
		"an empty frame":  {"50%\r100%\r", "100%"},
		"blanked":         {"Fetching 50%\r            \rDone\n", "Done\n"},
		"curl":            {"  % Total\n\r  0  100\r100  100\r\n", "  % Total\n100  100\n"},
		"dpkg": {
			"(Reading database ... \r(Reading database ... 5%\r(Reading " +
				"database ... 100%\r(Reading database ... 9 files.)\n",
			"(Reading database ... 9 files.)\n",
		},
		"tqdm, two bars": {"a 1%\n\rb 1%\x1b[A\ra 2%\n\rb 2%\x1b[A\ra 3%\n\rb 3%\n", "a 3%\nb 3%\n"},
		"yarn": {
			"[1/4] Resolving\n\x1b[1A\x1b[2K\x1b[1G[2/4] Fetching\n\x1b[2K\x1b[1Gwarning x\n",
			"[2/4] Fetching\nwarning x\n",
		},
		"npm": {"\x1b[1G\x1b[0K⠙\x1b[1G\x1b[0K⠹\x1b[1G\x1b[0K\nadded 3 packages\n", "\nadded 3 packages\n"},
		"cargo": {
			"    Building [=>  ] 1/9: a\r\x1b[K   Compiling b\n" +
				"    Building [==> ] 2/9: b\r\x1b[K    Finished\n",
			"   Compiling b\n    Finished\n",
		},
		"docker pull": {
			"a: Pulling\nb: Pulling\n" +
				"\x1b[2A\x1b[2K\ra: Downloading\r\x1b[2B" +
				"\x1b[1A\x1b[2K\rb: Downloading\r\x1b[1B\x1b[2A\x1b[2K\ra: Done\r\x1b[2BStatus\n",
			"a: Done\nb: Downloading\nStatus\n",
		},
		"compose": {
			"\x1b[?25l[+] Running 0/2\n ⠋ a\n ⠋ b\n\x1b[3A\x1b[0J[+] Running 2/2\n" +
				" ✔ a\n ✔ b\n\x1b[?25h",
			"[+] Running 2/2\n ✔ a\n ✔ b\n",
		},
		"log-update": {"x\nframe 1\nrow 2\n\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[Gdone", "x\ndone"},
		"pip": {
			"   \x1b[90m━━\x1b[0m 1/9 MB\r\x1b[2K   \x1b[32m━━━━\x1b[0m 9/9 MB\n\x1b[?25h",
			"   ━━━━ 9/9 MB\n",
		},
		"gradle": {
			"\x1b[1A\x1b[1m<--> 1%\x1b[m\x1b[7D\x1b[1B\x1b[1A\x1b[1m<==>" +
				" 9%\x1b[m\x1b[7D\x1b[1B\nDONE\n",
			"<==> 9%\nDONE\n",
		},
		"apt": {
			"a\n\x1b7\x1b[24;0f\x1b[42mProgress 1%\x1b[49m\x1b8b\n" +
				"\x1b7\x1b[24;0fProgress 2%\x1b8c\n",
			"a\nb\nc\n",
		},
		"keras":            {"1/9\b\b\b2/9\b\b\b9/9\n", "9/9\n"},
		"a count":          {"items: 100%\b\b\b\b5%\n", "items: 5%\n"},
		"spinner":          {"wait -\b/\b|\b \nok\n", "wait  \nok\n"},
		"overstrike":       {"N\bNA\bAM\bME\bE\n", "NAME\n"},
		"wide characters":  {"█████\x1b[2D██\x1b[5D\x1b[K░\n", "░\n"},
		"column":           {"Starting\x1b[12G[ OK ]\n", "Starting   [ OK ]\n"},
		"erased to start":  {"(print)\x1b[1Kx\n", "       x\n"},
		"colors":           {"\x1b[1;31merror\x1b[0m\x1b(B: \x1b[38;2;1;2;3mx\x1b[m\n", "error: x\n"},
		"title":            {"\x1b]0;make\aall\n\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\\n", "all\nlink\n"},
		"title not ended":  {"\x1b]0;make\nall\n", "\nall\n"},
		"cleared":          {"one\n\x1b[2J\x1b[Htwo\n\x1bcthree\n", "one\ntwo\nthree\n"},
		"other controls":   {"a\x00b\tc\fd\x07", "a\x00b\tc\fd\x07"},
		"far away":         {"a\x1b[999999999Cb\x1b[99999B\x1b[99999Ac\n", "a" + strings.Repeat(" ", 249) + "bc\n"},
		"not an escape":    {"\x1b[31\nred\x1b", "\nred"},
		"repeats are kept": {strings.Repeat("x\n", 20), strings.Repeat("x\n", 20)},
	} {
		if got := ShowScreen(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		screen := NewScreen(1000, 10)
		for i := range len(c.text) { // a sequence may be cut anywhere
			_, _ = screen.Write([]byte{c.text[i]})
		}
		if got, _, _ := screen.HeadTail(); got != c.want && name != "repeats are kept" {
			t.Errorf("%s, in bytes: %q, want %q", name, got, c.want)
		}
	}
}

func TestScreenCountsRepeats(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"few":   {"a\n" + strings.Repeat("x\n", minRepeats) + "b\n", "a\n" + strings.Repeat("x\n", minRepeats) + "b\n"},
		"many":  {"a\n" + strings.Repeat("x\n", 5001) + "b\n", "a\nx\n[the line above is repeated 5000 times]\nb\n"},
		"end":   {strings.Repeat("x\n", 301) + "x", "x\n[the line above is repeated 300 times]\nx"},
		"blank": {"\n\n\n\n\n\n\n", "\n[the line above is repeated 6 times]\n"},
	} {
		screen := NewScreen(1000, 1000)
		_, _ = screen.Write([]byte(c.text))
		for range 2 { // showing it changes nothing
			if got, _, omitted := screen.HeadTail(); got != c.want || omitted != 0 {
				t.Errorf("%s: %q, %d omitted", name, got, omitted)
			}
		}
	}
}

// However long the output and its lines are, little of it is in memory, and what is left out is counted.
func TestScreenIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		piece        string
		times        int
		head, tail   string
		total, limit int64 // limit of the bytes in memory
	}{
		"a line without end": {strings.Repeat("x", 1<<16), 1 << 10, "xxx", "xxx", 1 << 26, 16 << 10},
		"many lines":         {strings.Repeat("y", 200) + "%d\n", 1 << 14, "yyy", "16383\n", 0, 64 << 10},
		"up and down":        {"z%d\n\x1b[99A\x1b[99B\x1b[99C", 1 << 14, "z0\n", "z16383\n", 0, 64 << 10},
		"a title":            {"\x1b]" + strings.Repeat("x", 1<<10), 1 << 10, "", "", 0, 1 << 10},
		"a sequence":         {"\x1b[" + strings.Repeat("1", 1<<10), 1 << 10, "111", "111", 0, 16 << 10},
	} {
		screen := NewScreen(100, 100)
		for i := range c.times {
			piece := c.piece
			if strings.Contains(piece, "%d") {
				piece = fmt.Sprintf(piece, i)
			}
			_, _ = screen.Write([]byte(piece))
		}
		head, tail, omitted := screen.HeadTail()
		if !strings.HasPrefix(head, c.head) || !strings.HasSuffix(tail, c.tail) || len(head) > 100 || len(tail) > 100 ||
			c.total > 0 && omitted != c.total-200 {
			t.Errorf("%s: %q, %q, %d omitted", name, head, tail, omitted)
		}
		held := int64(cap(screen.head) + cap(screen.tail) + cap(screen.above) + cap(screen.params))
		for _, row := range screen.rows[:cap(screen.rows)] {
			held += int64(cap(row))
		}
		if held > c.limit {
			t.Errorf("%s: %d bytes in memory", name, held)
		}
	}
}

// Feature: texts, Property 5: Output Does Not Depend on Its Cuts
//
// It does not matter how output is cut, and lines without control characters are kept as they are.
func TestAnyOutputIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.StringMatching("[a-zä]{0,9}\n?"), rapid.StringMatching(`\x1b?\[?[0-9;?]{0,3}[A-Za-z78]?`),
			rapid.SampledFrom([]string{"\r", "\b", "\n", "\x1b]0;", "\a", "\x1b", "\r\n"}), rapid.String())).Draw(t, "pieces")
		whole, parts := NewScreen(20, 20), NewScreen(20, 20)
		_, _ = whole.Write([]byte(strings.Join(pieces, "")))
		for _, piece := range pieces {
			_, _ = parts.Write([]byte(piece))
			_, _, _ = parts.HeadTail()
		}
		head, tail, omitted := whole.HeadTail()
		if h, t2, o := parts.HeadTail(); h != head || t2 != tail || o != omitted || omitted < 0 {
			t.Fatalf("%q %q %d, in parts %q %q %d", head, tail, omitted, h, t2, o)
		}
		plain := strings.Join(pieces, "")
		if !bytes.ContainsAny([]byte(plain), "\r\b\x1b") && ShowScreen(plain) != plain {
			t.Fatalf("%q is shown as %q", plain, ShowScreen(plain))
		}
	})
}
