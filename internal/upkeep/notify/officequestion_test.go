package notify

import (
	"testing"

	"company/internal/present/feed"
)

// A question of the office is a question, which its answer ends.
func TestOfficeQuestion(t *testing.T) {
	n, ok := noticeOf(feed.Item{Seq: 1, Kind: "approval.opened", Mark: feed.Needs, Text: "a4: Raise the cap?"})
	if !ok || n.Kind != Question || sumUp([]Notice{n}) != "the office asks" {
		t.Errorf("%+v, %v: %s", n, ok, sumUp([]Notice{n}))
	}
	if !endsReason(feed.Item{Seq: 2, Kind: "approval.answered"}, n) {
		t.Error("the answer does not end it")
	}
}
