package bustest

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// TestHistoriesThatCannotBe: the models refuse what a store must not answer.
func TestHistoriesThatCannotBe(t *testing.T) {
	inTurn := func(pairs ...any) (ops []porcupine.Operation) {
		for i := 0; i < len(pairs); i += 2 {
			ops = append(
				ops, porcupine.Operation{Input: pairs[i], Output: pairs[i+1], Call: int64(10 * i), Return: int64(10*i + 5)})
		}
		return ops
	}
	add := func(expect uint64, id string) logCall { return logCall{op: "append", expect: expect, id: id} }
	for name, c := range map[string]struct {
		model porcupine.Model
		ops   []porcupine.Operation
		fine  bool
	}{
		"appends": {logModel,
			inTurn(add(0, "a"), logReply{seq: 1}, add(1, "b"), logReply{seq: 3}, add(1, "b"), logReply{seq: 3}), true},
		"two after one":         {logModel, inTurn(add(0, "a"), logReply{seq: 1}, add(0, "b"), logReply{seq: 2}), false},
		"a lost append":         {logModel, inTurn(add(0, "a"), logReply{seq: 1}, logCall{op: "last"}, logReply{}), false},
		"a stale read":          {logModel, inTurn(add(0, "a"), logReply{seq: 1}, logCall{op: "read"}, logReply{}), false},
		"a conflict of nothing": {logModel, inTurn(add(0, "a"), logReply{conflict: true}), false},
		"a repeat stored twice": {logModel, inTurn(add(0, "a"), logReply{seq: 1}, add(0, "a"), logReply{seq: 2}), false},
		"a sequence once more": {logModel,
			inTurn(add(0, "a"), logReply{seq: 4}, logCall{op: "purge"}, logReply{}, add(0, "b"), logReply{seq: 4}), false},

		"an item": {itemModel,
			inTurn(queueCall{op: "put", id: "i"}, queueReply{}, queueCall{"lease", "i", 2}, queueReply{},
				queueCall{"ack", "i", 2}, queueReply{}), true},
		"put again": {itemModel,
			inTurn(queueCall{op: "put", id: "i"}, queueReply{}, queueCall{"lease", "i", 2}, queueReply{},
				queueCall{"ack", "i", 2}, queueReply{}, queueCall{op: "put", id: "i"}, queueReply{},
				queueCall{"lease", "i", 3}, queueReply{}, queueCall{"ack", "i", 2}, queueReply{lost: true}), true},
		"two holders": {itemModel,
			inTurn(queueCall{op: "put", id: "i"}, queueReply{}, queueCall{"lease", "i", 2}, queueReply{},
				queueCall{"lease", "i", 3}, queueReply{}), false},
		"an old ack": {itemModel,
			inTurn(queueCall{op: "put", id: "i"}, queueReply{}, queueCall{"lease", "i", 2}, queueReply{},
				queueCall{"nack", "i", 2}, queueReply{}, queueCall{"lease", "i", 3}, queueReply{},
				queueCall{"ack", "i", 2}, queueReply{}), false},
		"done and leased": {itemModel,
			inTurn(queueCall{op: "put", id: "i"}, queueReply{}, queueCall{"lease", "i", 2}, queueReply{},
				queueCall{"ack", "i", 2}, queueReply{}, queueCall{"lease", "i", 3}, queueReply{}), false},
		"lost for no need": {itemModel,
			inTurn(queueCall{op: "put", id: "i"}, queueReply{}, queueCall{"lease", "i", 2}, queueReply{},
				queueCall{"extend", "i", 2}, queueReply{lost: true}), false},
	} {
		if fine := porcupine.CheckOperations(c.model, c.ops); fine != c.fine {
			t.Errorf("%s: legal is %v, want %v", name, fine, c.fine)
		}
	}
}
