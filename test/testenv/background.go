package testenv

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"company/internal/lib/hosttest"
)

// inForeground is the setting with which a house begins.
const inForeground = "COMPANY_FOREGROUND=1"

// WorkInBackground has the commands from here on use a company in the background, as those of a user do.
func (h *House) WorkInBackground() {
	h.Env = slices.DeleteFunc(h.Env, func(s string) bool { return s == inForeground })
}

// Background is the process of the company in the background, or 0 if there is none.
func (h *House) Background() int {
	text, err := os.ReadFile(filepath.Join(h.State(), "lock"))
	if err != nil {
		return 0
	}
	var held struct {
		PID     int
		Command string
	}
	if json.Unmarshal(text, &held) != nil || !strings.Contains(held.Command, "serve --background") {
		return 0
	}
	if syscall.Kill(held.PID, 0) != nil {
		return 0
	}
	return held.PID
}

// EndBackground ends the company in the background, as the end of the machine does, and waits for its end.
func (h *House) EndBackground() {
	pid := h.Background()
	if pid == 0 {
		return
	}
	_ = syscall.Kill(pid, syscall.SIGCONT)
	_ = syscall.Kill(pid, syscall.SIGTERM)
	hosttest.Eventually(h.T, "the company in the background has ended", func() (any, bool) {
		return pid, h.Background() != pid
	})
}
