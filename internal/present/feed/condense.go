package feed

import "company/internal/company"

// condenser selects the items for people. A successful subtask has one item, its merge. Once a subtask has a failure,
// all its items are shown until its merge. The only subtask of a task has its verdicts, too. Tool calls and items for
// programs are left out.
type condenser struct {
	open map[company.SubtaskID]bool
	only map[company.TaskID]bool // tasks of one subtask, whose plan was seen
}

// isShown reports whether an item is shown to people. Call it for each item, in order.
func (c *condenser) isShown(item Item) bool {
	if item.Quiet || isStep(item.Kind) {
		return false
	}
	switch item.Kind {
	case kindPlanned:
		if c.only == nil {
			c.only = map[company.TaskID]bool{}
		}
		c.only[item.Task] = len(item.Lines) <= 1
	case kindReplanned:
		delete(c.only, item.Task)
	case kindGate:
		return false // only the start; the verdict is an event
	}
	if item.Subtask == "" {
		return true
	}
	switch item.Mark {
	case Failed, Needs:
		if item.Kind != kindAccessRefused {
			c.setOpen(item.Subtask, true)
		}
		return true
	case Stalled:
		return true
	}
	open := c.open[item.Subtask]
	switch item.Kind {
	case kindMergeDone:
		c.setOpen(item.Subtask, false)
		return true
	case kindGateFinished:
		return open || c.only[item.Task]
	case kindReview:
		return open || c.only[item.Task] || len(item.Lines) > 0 // an approval with remarks
	case kindRunClaimed, kindRunEnded, kindMergeGated:
		return open
	}
	return true
}

func (c *condenser) setOpen(sub company.SubtaskID, open bool) {
	if c.open == nil {
		c.open = map[company.SubtaskID]bool{}
	}
	c.open[sub] = open
}

// Kinds of items that the feed handles specially. Kinds with a dot are events; the others occur between two events.
var (
	kindRunClaimed    = (*company.RunClaimed)(nil).Kind()
	kindRunEnded      = (*company.RunEnded)(nil).Kind()
	kindRunReleased   = (*company.RunReleased)(nil).Kind()
	kindPlanned       = (*company.PlanAccepted)(nil).Kind()
	kindReplanned     = (*company.SubtaskReplanned)(nil).Kind()
	kindGateFinished  = (*company.GateFinished)(nil).Kind()
	kindMergeGated    = (*company.MergeGated)(nil).Kind()
	kindStackRed      = (*company.StackRed)(nil).Kind()
	kindStackIntended = (*company.StackIntended)(nil).Kind()
	kindMergeDone     = (*company.MergeRecorded)(nil).Kind()
	kindReview        = (*company.ReviewRecorded)(nil).Kind()
	kindAccessRefused = (*company.AccessRefused)(nil).Kind()
	kindBased         = (*company.TaskBased)(nil).Kind()
	kindPrepared      = (*company.TaskPrepared)(nil).Kind()
	kindBaseline      = (*company.BaselineRecorded)(nil).Kind()
	kindEffectFailed  = (*company.EffectFailed)(nil).Kind()
	kindCompleted     = (*company.TaskCompleted)(nil).Kind()
	kindFailed        = (*company.TaskFailed)(nil).Kind()
	kindCancelled     = (*company.TaskCancelled)(nil).Kind()
)

const (
	kindGate  = "gate"  // a check starts
	kindImage = "image" // a step of an image build
	// kindHeartbeat is the kind of a line that shows that work continues.
	kindHeartbeat = "heartbeat"
)

// isStep reports whether a kind is a step of an agent's conversation. Steps are shown with -v.
func isStep(kind string) bool {
	switch kind {
	case "tool_started", "tool_done", "tool_redone", "turn_started", "replied", "noted", "masked", "resumed", "registry":
		return true
	}
	return false
}
