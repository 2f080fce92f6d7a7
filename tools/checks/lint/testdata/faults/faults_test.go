package faults

import (
	"context"
	"testing"
)

func TestFaults(t *testing.T) {
	start(context.Background(), t.Name()) // want usetesting
}
