package diagnose

import (
	"strings"
	"testing"
)

// On Linux nothing is said of the system; elsewhere what works, as a warning.
func TestSystem(t *testing.T) {
	if r := checkSystem("linux"); len(r) != 0 {
		t.Errorf("%+v", r)
	}
	r := checkSystem("darwin")
	if len(r) != 1 || r[0].OK || !r[0].Warn || r[0].Unknown || !strings.Contains(r[0].Found, "mmdebstrap") ||
		r[0].Fix == "" {
		t.Errorf("%+v", r)
	}
}
