package pricing

import (
	"testing"

	"example.com/stockroom/internal/catalog"
)

func TestNetAndGross(t *testing.T) {
	item := catalog.Item{SKU: "bolt-8", Cents: 250}
	if got := Net(item, 4); got != 1000 {
		t.Errorf("Net = %d, want 1000", got)
	}
	if got, want := Gross(1000), int64(1000+10*VATPercent); got != want {
		t.Errorf("Gross(1000) = %d, want %d", got, want)
	}
	if got := Gross(0); got != 0 {
		t.Errorf("Gross(0) = %d", got)
	}
}
