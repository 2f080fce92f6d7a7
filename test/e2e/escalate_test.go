package e2e

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/feed"
)

// TestStuckTicketGetsAnotherModel: the manager gives a ticket that its worker cannot do to
// another model of the config. A name that the config does not list is refused, and the ledger
// names the model of each run (SUB-6, SUB-16).
func TestStuckTicketGetsAnotherModel(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, &staff{
		manager: replyByRun(submitPlan(farewellTicket()), replyInSteps(
			call("change_model", m{"model": "gigantic", "guidance": "It is one line."}),
			call("change_model", m{"model": "big", "guidance": "It is one line."}))),
		worker: func(x scripted.Exchange) scripted.Reply {
			if x.Model != "big" {
				return escalateFor("this is beyond me")(x)
			}
			return saysGoodbye()(x)
		},
	})
	h.Config(fmt.Sprintf("  large: {adapter: openai, model: large, base_url: %q, api_key_env: TEST_MODEL_KEY}\n  big: {adapter: openai, model: big, base_url: %q, api_key_env: TEST_MODEL_KEY}\nagents: {worker: {escalate_to: [big, large]}}\n", h.Model.URL(), h.Model.URL()) + tinyGates)
	p := h.Start("submit", "say goodbye")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	checkBriefHolds(t, h, "t1-plan.2", "t1-01 is stuck", "this is beyond me")
	if said := requestText(t, h, "t1-plan.2", 2); !strings.Contains(said, "gigantic is none that t1-01 may be given") || !strings.Contains(said, "name one of: big, large") {
		t.Errorf("the manager does not read what it may choose:\n%s", said)
	}
	checkBriefHolds(t, h, "t1-01.2", "Your manager says: It is one line.")
	p.Until(patience, "the change of the model", func(it feed.Item) bool {
		return it.Kind == "subtask.guided" && it.Text == "given to the model big; manager: It is one line."
	})
	runAndExpect(t, h, []string{"the manager gave it the model big"}, "show", "t1")
	runAndExpect(t, h, []string{"big"}, "show", "t1-01.2")
}
