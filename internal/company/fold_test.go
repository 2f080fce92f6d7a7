package company

import (
	"reflect"
	"testing"
	"time"
)

// Every change of what a snapshot holds makes another shape, however deep.
func TestShapeTellsTypesApart(t *testing.T) {
	t.Parallel()
	type part struct {
		At   time.Time `json:"at"`
		Next *struct {
			N int `json:"n"`
		} `json:"next"`
	}
	type whole struct {
		Parts map[string][]part `json:"parts"`
		side  int
	}
	type renamed struct {
		Parts map[string][]struct {
			At   time.Time `json:"when"`
			Next *struct {
				N int `json:"n"`
			} `json:"next"`
		} `json:"parts"`
	}
	type deeper struct {
		Parts map[string][]struct {
			At   time.Time `json:"at"`
			Next *struct {
				N int64 `json:"n"`
			} `json:"next"`
		} `json:"parts"`
	}
	type same struct {
		Parts map[string][]struct {
			At   time.Time `json:"at"`
			Next *struct {
				N int `json:"n"`
			} `json:"next"`
		} `json:"parts"`
	}
	_ = whole{side: 1}
	shape := func(v any) string { return shapeOf(reflect.TypeOf(v), map[reflect.Type]bool{}) }
	if shape(whole{}) != shape(same{}) {
		t.Errorf("the same JSON has two shapes:\n%s\n%s", shape(whole{}), shape(same{}))
	}
	for _, other := range []any{renamed{}, deeper{}, part{}} {
		if shape(other) == shape(whole{}) {
			t.Errorf("%T has the shape of another: %s", other, shape(other))
		}
	}
	type list struct{ Next *list }
	first := Fold()
	if shape(list{}) == "" || Fold() != first {
		t.Error("a type that holds itself has no shape, or the fold has two names")
	}
}
