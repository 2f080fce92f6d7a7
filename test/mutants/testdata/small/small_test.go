package small

import "testing"

func TestWithin(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 2, 3: 2} {
		if got := Within(n, 2); got != want {
			t.Errorf("%d within 2 is %d", n, got)
		}
	}
}

func TestSteps(t *testing.T) {
	if got := Steps(3); got != 3 {
		t.Errorf("%d steps, want 3", got)
	}
}

func TestEven(t *testing.T) {
	if !Even(2) {
		t.Error("2 is even")
	}
}

func TestGreet(t *testing.T) {
	if Greet("you") != "Hello you" {
		t.Error(Greet("you"))
	}
}
