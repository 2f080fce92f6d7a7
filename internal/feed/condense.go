package feed

import "company/internal/company"

// condenser picks the items that people read. A subtask that goes well is one item,
// its merge; of one in which something failed, all items are shown from then on
// until its merge. Tools and what programs alone use are left out.
type condenser struct {
	open map[company.SubtaskID]bool
}

// isShown says whether people read an item. It is asked for each item, in order.
func (c *condenser) isShown(it Item) bool {
	if it.Quiet || isStep(it.Kind) {
		return false
	}
	if it.Kind == kindGate {
		return false // it begins; its verdict is an event
	}
	if it.Subtask == "" {
		return true
	}
	switch it.Mark {
	case Failed, Needs:
		if it.Kind != kindAccessRefused {
			c.setOpen(it.Subtask, true)
		}
		return true
	case Stalled:
		return true
	}
	open := c.open[it.Subtask]
	switch it.Kind {
	case kindMergeDone:
		c.setOpen(it.Subtask, false)
		return true
	case kindRunClaimed, kindRunEnded, kindGateFinished, kindMergeGated, kindReview:
		return open || len(it.Lines) > 0 && it.Kind == kindReview // an approval with remarks
	}
	return true
}

func (c *condenser) setOpen(sub company.SubtaskID, open bool) {
	if c.open == nil {
		c.open = map[company.SubtaskID]bool{}
	}
	c.open[sub] = open
}

// Kinds of items that the feed treats in a way of their own. Those with a point are
// events; the others happen between two events.
var (
	kindRunClaimed    = (*company.RunClaimed)(nil).Kind()
	kindRunEnded      = (*company.RunEnded)(nil).Kind()
	kindRunReleased   = (*company.RunReleased)(nil).Kind()
	kindGateFinished  = (*company.GateFinished)(nil).Kind()
	kindMergeGated    = (*company.MergeGated)(nil).Kind()
	kindStackRed      = (*company.StackRed)(nil).Kind()
	kindStackIntended = (*company.StackIntended)(nil).Kind()
	kindMergeDone     = (*company.MergeRecorded)(nil).Kind()
	kindReview        = (*company.ReviewRecorded)(nil).Kind()
	kindAccessRefused = (*company.AccessRefused)(nil).Kind()
	kindSubmitted     = (*company.TaskSubmitted)(nil).Kind()
	kindBased         = (*company.TaskBased)(nil).Kind()
	kindPrepared      = (*company.TaskPrepared)(nil).Kind()
	kindBaseline      = (*company.BaselineRecorded)(nil).Kind()
	kindEffectFailed  = (*company.EffectFailed)(nil).Kind()
	kindCompleted     = (*company.TaskCompleted)(nil).Kind()
	kindFailed        = (*company.TaskFailed)(nil).Kind()
	kindCancelled     = (*company.TaskCancelled)(nil).Kind()
)

const (
	kindGate  = "gate"  // a check begins
	kindImage = "image" // a step of the making of an image
	// kindHeartbeat is a line that says on a stream that work goes on.
	kindHeartbeat = "heartbeat"
)

// isStep says whether a kind is a step of an agent's conversation, which is read
// with -v.
func isStep(kind string) bool {
	switch kind {
	case "tool_started", "tool_done", "tool_redone", "turn_started", "replied", "noted", "masked", "resumed", "registry":
		return true
	}
	return false
}
