package evidence

import (
	"testing"

	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }
