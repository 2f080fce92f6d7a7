package jq

import (
	"strings"
	"testing"

	"company/internal/lib/boundedparse/parsetest"
)

func TestCompileBoundsTheStack(t *testing.T) {
	for _, c := range [][3]string{
		{"", "(", ""}, {"", ".|", "."}, {"", ".,", "."}, {"", "-", "1"}, {"", "[", ""},
		{"", "if . then . elif ", ". then . else . end"}, {"", "try ", "."},
		{".", "[0]", ""}, {"", ". as $a|", "."}, {"", `"\(`, "1"}, {"", "def f: ", ".;"},
	} {
		text := c[0] + strings.Repeat(c[1], (maxText-30)/len(c[1])) + c[2]
		stack, allocated := parsetest.Measure(func() { _, _ = Compile(text) })
		if stack > 32*parsetest.MiB || allocated > 64*parsetest.MiB {
			t.Errorf("%q, again and again: %d MiB of stack, %d MiB allocated", c[1], stack>>20, allocated>>20)
		}
	}
	if _, err := Compile(strings.Repeat("(", maxText+1)); err == nil {
		t.Error("a large expression was compiled")
	}
}

func TestEncodeRefusesDepth(t *testing.T) {
	code, err := Compile("reduce range(.) as $i (0; [.])")
	if err != nil {
		t.Fatal(err)
	}
	for n, ok := range map[int]bool{900: true, 1_000_000: false} {
		value, _ := code.Run(n).Next()
		if _, err := Encode(value); (err == nil) != ok {
			t.Errorf("%d levels: %v", n, err)
		}
	}
}
