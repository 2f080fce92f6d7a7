package rust

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// Two crates of a workspace have tests of the same name: that one of them is
// known to be red does not excuse the other.
func TestCratesOfAWorkspace(t *testing.T) {
	out := ""
	for _, crate := range []string{"one", "two"} {
		out += "     Running unittests src/lib.rs (target/debug/deps/" + crate +
			"-c93b59a92189d5d2)\nrunning 1 test\ntest tests::it_works ... FAILED\ntest result: FAILED.\n"
	}
	res, _ := ecosystemtest.ReadReport(Ecosystem{}.Formats()[0], []byte(out))
	if len(res.Failed) != 2 || res.Failed[0].Name != "one src/lib.rs tests::it_works" ||
		res.Failed[1].Name != "two src/lib.rs tests::it_works" {
		t.Errorf("%+v", res.Failed)
	}
}
