package tui

import (
	"testing"
	"time"

	"company/test/goroutines"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC // screens show local times
	goroutines.Main(m)
}
