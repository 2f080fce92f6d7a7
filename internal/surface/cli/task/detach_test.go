package task

import (
	"testing"

	"company/internal/company"
)

// TestAnswerBefore: --yes answers the questions before the work of a detached submission, and lifts no refusal.
func TestAnswerBefore(t *testing.T) {
	for _, x := range []struct{ has, want company.Settings }{
		{company.Settings{NoGates: "ask", Plan: company.Ask, Merge: company.Ask},
			company.Settings{NoGates: "allow", Plan: company.Auto, Merge: company.Ask}},
		{company.Settings{NoGates: "fail", Plan: company.Auto}, company.Settings{NoGates: "fail", Plan: company.Auto}},
	} {
		answerBefore(&x.has)
		if x.has.NoGates != x.want.NoGates || x.has.Plan != x.want.Plan || x.has.Merge != x.want.Merge {
			t.Errorf("%+v, want %+v", x.has, x.want)
		}
	}
}
