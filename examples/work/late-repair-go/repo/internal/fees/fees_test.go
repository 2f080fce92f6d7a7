package fees

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/toolshed/internal/calendar"
	"example.com/toolshed/internal/dates"
	"example.com/toolshed/internal/loans"
	"example.com/toolshed/internal/money"
)

var tariff = Tariff{Day: 40, Max: 200}

func TestOf(t *testing.T) {
	cal, err := calendar.Read(strings.NewReader("Sunday\n"))
	if err != nil {
		t.Fatal(err)
	}
	march := func(day int) dates.Date { return dates.Of(2023, time.March, day) }
	for _, test := range []struct {
		due, returned, by int
		want              money.Cents
	}{
		{10, 10, 31, 0},
		{10, 9, 31, 0},
		{10, 11, 31, 40},
		{10, 13, 31, 80},
		{10, 13, 11, 40},
		{10, 30, 31, 200},
		{10, 0, 14, 120},
		{10, 0, 9, 0},
	} {
		l := loans.Loan{From: march(1), Due: march(test.due)}
		if test.returned > 0 {
			l.Returned = march(test.returned)
		}
		if got := Of(l, march(test.by), cal, tariff); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

func TestByMember(t *testing.T) {
	march := func(day int) dates.Date { return dates.Of(2023, time.March, day) }
	got := ByMember([]loans.Loan{
		{Member: "jo", From: march(1), Due: march(8), Returned: march(9)},
		{Member: "ann", From: march(1), Due: march(8)},
		{Member: "kim", From: march(1), Due: march(8), Returned: march(8)},
		{Member: "jo", From: march(9), Due: march(16), Returned: march(18)},
	}, march(10), calendar.New(), tariff)
	want := []Sum{{"ann", 80}, {"jo", 40}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
