package sandbox

import (
	"slices"
	"testing"
	"time"
)

// limits.stop_grace reaches the toolbox of each container.
func TestStopGrace(t *testing.T) {
	for grace, want := range map[time.Duration][]string{
		0: {"GATEWAY_PORT=8377"}, time.Second: {"GATEWAY_PORT=8377", "TOOLBOX_STOP_GRACE=1s"},
		-1: {"GATEWAY_PORT=8377", "TOOLBOX_STOP_GRACE=0s"},
	} {
		if got := (&Factory{Config: Config{StopGrace: grace}}).toolboxEnv(); !slices.Equal(got, want) {
			t.Errorf("%s: %q", grace, got)
		}
	}
}
