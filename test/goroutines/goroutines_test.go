package goroutines

import (
	"strings"
	"testing"
	"time"
)

// One that ends late is none that is left; one that stays is shown.
func TestLeft(t *testing.T) {
	end := make(chan struct{})
	time.AfterFunc(2*time.Second, func() { close(end) }) // goleak alone gives up before
	go waits(end)
	if err := Left(); err != nil {
		t.Error(err)
	}
	stay := make(chan struct{})
	defer close(stay)
	go waits(stay)
	if err := left(0); err == nil || !strings.Contains(err.Error(), "goroutines.waits") {
		t.Errorf("got %v", err)
	}
}

func waits(end chan struct{}) { <-end }
