package e2e

import (
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

// shop is a module of five packages: order depends on price, and the test of style reads
// the source of mail.
func shop() map[string]string {
	return map[string]string{
		"go.mod": "module example.com/shop\n\ngo 1.24\n",
		"price/price.go": "// Package price has prices.\npackage price\n\n// Of is the price of n.\nfunc Of(n int) " +
			"int { return 2 * n }\n",
		"order/order.go": "// Package order has orders.\npackage order\n\nimport \"example.com/shop/price\"\n\n// Sum " +
			"is what n cost with shipping.\nfunc Sum(n int) int { return price.Of(n) + 1 }\n",
		"order/order_test.go": "package order\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(2) != 5 " +
			"{\n\t\tt.Error(Sum(2))\n\t}\n}\n",
		"mail/mail.go": "// Package mail has mails.\npackage mail\n\n// Greeting begins a mail.\nconst Greeting = " +
			"\"Hello\"\n",
		"mail/mail_test.go": "package mail\n\nimport \"testing\"\n\nfunc TestGreeting(t *testing.T) {\n\tif Greeting == " +
			"\"\" {\n\t\tt.Error(\"no greeting\")\n\t}\n}\n",
		"style/style_test.go": "package style\n\nimport (\n\t\"bytes\"\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestStyle(t " +
			"*testing.T) {\n\tif text, err := os.ReadFile(\"../mail/mail.go\"); err != nil || bytes.Contains(text, " +
			"[]byte(\"!\")) {\n\t\tt.Error(\"mail shouts\", err)\n\t}\n}\n",
		"log/log.go": "// Package log has nothing.\npackage log\n",
	}
}

// TestGatesInTwoSteps: where the tests of the base are slow, a ticket runs those that its
// change can reach. One that breaks a package which depends on the touched one goes back
// before its review. One that breaks what imports do not tell is found on the merged tree,
// and goes back from there (GAT-3).
func TestGatesInTwoSteps(t *testing.T) {
	t.Parallel()
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	price := func(body string) string {
		return strings.Replace(shop()["price/price.go"], "return 2 * n", body, 1)
	}
	mail := func(text string) string { return strings.Replace(shop()["mail/mail.go"], "Hello", text, 1) }
	h := testenv.New(t, &staff{
		manager: submitPlan(
			[]m{ticket("Clean the price", "Have price.Of add n to itself.", "price/*.go"),
				ticket("Greet warmly", "Have mail.Greeting say Hello there.", "mail/*.go")}),
		worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
			"t1-01": replyByRun(writeFilesAndFinish("Clean the price", "price/price.go", price("return n + 3")),
				writeFilesAndFinish("Add rightly", "price/price.go", price("return n + n"),
					"price/price_test.go",
					"package price\n\nimport \"testing\"\n\nfunc TestOf(t *testing.T) {\n\tif Of(3) != 6 "+
						"{\n\t\tt.Error(Of(3))\n\t}\n}\n")),
			"t1-02": replyByRun(writeFilesAndFinish("Greet warmly", "mail/mail.go", mail("Hello there!")),
				writeFilesAndFinish("Greet calmly", "mail/mail.go", mail("Hello there"))),
		}),
	}, shop())
	h.LetManagerPlan()
	h.Config("gates: {first_step_after: 1ns}\n")
	p := h.Start("submit", "clean up the shop")
	sum := waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 2)
	if sum.Result != "COMPLETE" {
		t.Errorf("%+v", sum)
	}
	red := p.Until(patience, "a red first step", func(it feed.Item) bool {
		return it.Kind == "gate.finished" && it.Mark == feed.Failed && it.Subtask == "t1-01"
	})
	checkHolds(t, "the feed", red.Text, "example.com/shop/order TestSum")
	green := p.Event(patience, "gate.finished", "t1-02")
	checkHolds(t, "the feed", green.Text, "gates passed; of test 1 of 5 packages, all on the merge")
	merged := p.Until(patience, "a red verdict on the merged tree", func(it feed.Item) bool {
		return it.Kind == "merge.gated" && it.Mark == feed.Failed && it.Subtask == "t1-02"
	})
	checkHolds(t, "the feed", merged.Text, "example.com/shop/style TestStyle")
	checkBriefHolds(t, h, "t1-01.2", "The gates are red", "FAIL: TestSum")
	checkBriefHolds(t, h, "t1-02.2", "The gates are red", "FAIL: TestStyle")
	if n := h.Model.Calls().ByRun["t1-01-review.2"]; n != 0 {
		t.Errorf("%d calls of a second review of t1-01: its first step came before the first one", n)
	}
	checkHolds(t, "the pull request", prBody(h, "1"), "Tested in two steps",
		"t1-01: test, 2 of 5 packages; t1-02: test, 1 of 5 packages", "and all on the merged tree", "passed, 4 tests")
	runAndExpect(t, h, []string{"before the review: test: 2 of 5 packages"}, "show", "t1-01")
	mainUnmoved(t, h)

	t.Run("replay", func(t *testing.T) {
		hosttest.Long(t, "TestReplay replays a task, TestFirstStepOfARecord decides by a record")
		// The base's time and the config say no first step; the record has some.
		h.Config("gates: {first_step_after: 24h}\n")
		var same replay.Report
		if h.JSON(&same, "replay", "t1"); !same.Same {
			t.Errorf("%+v", same)
		}
	})
}
