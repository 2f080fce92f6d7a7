package yaml

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// maxPaths limits the bytes of all paths of a document. The parser stores in each node the path from the root as a
// separate string, so a key costs its length for each value below it.
const maxPaths = 8 << 20

// checkTokens refuses tokens that would make the parser recurse too deeply or use too much memory. A quoted text is
// one token, and so is a comment, so characters in them do not count.
func checkTokens(tokens token.Tokens, maxDepth int) error {
	var n nesting
	for _, t := range tokens {
		if t.Type == token.CommentType {
			continue
		}
		n.add(t)
		if n.depth() > maxDepth {
			return &Error{t.Position.Line, t.Position.Column, "values nest too deeply",
				fmt.Sprintf("%d levels are allowed", maxDepth)}
		}
		if n.paths > maxPaths {
			return &Error{t.Position.Line, t.Position.Column, "long keys hold too many values", "shorten the keys"}
		}
	}
	return nil
}

// nesting counts the open values at a token. In YAML it counts at least half of the parser's levels. In other text it
// may count more.
type nesting struct {
	levels []level
	flows  int // levels in brackets
	marks  int // tags, anchors and question marks before a value
	keys   int // bytes of the open keys
	paths  int // bytes of the paths of all tokens so far
	last   *token.Token
}

// level is a list, a mapping, or a key with its value.
type level struct {
	flow   bool // started with a bracket
	column int  // column of a block
	key    int  // bytes of its key
}

func (n *nesting) depth() int { return len(n.levels) + n.marks }

func (n *nesting) add(t *token.Token) {
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		n.flows++
		n.levels = append(n.levels, level{flow: true})
	case token.SequenceEndType, token.MappingEndType:
		n.closeFlow()
	case token.CollectEntryType:
		n.marks = 0
		n.closeKeys()
	case token.SequenceEntryType, token.MappingKeyType:
		n.openBlock(t.Position.Column, 0)
	case token.TagType, token.AnchorType:
		n.marks++
	case token.MappingValueType:
		if n.last != nil {
			n.openBlock(n.last.Position.Column, len(n.last.Value))
		}
	case token.DocumentHeaderType, token.DocumentEndType:
		*n = nesting{paths: n.paths}
	default:
		if n.last == nil || n.last.Type != token.AnchorType { // the name of an anchor is not a value
			n.marks = 0 // they belong to this value
		}
	}
	n.last = t
	n.paths += n.keys + 4*len(n.levels)
}

// openBlock opens a level at a column. In a block it first closes levels that start at the same column or to its
// right. Between brackets columns have no meaning, and a comma closes levels.
func (n *nesting) openBlock(column, key int) {
	for last := len(n.levels) - 1; last >= 0 && !n.levels[last].flow && n.flows == 0 &&
		n.levels[last].column >= column; last-- {
		n.drop()
	}
	n.levels = append(n.levels, level{column: column, key: key})
	n.keys += key
}

// closeKeys closes the levels since the last bracket.
func (n *nesting) closeKeys() {
	for len(n.levels) > 0 && n.flows > 0 && !n.levels[len(n.levels)-1].flow {
		n.drop()
	}
}

// closeFlow closes the level of the last bracket, and the levels since.
func (n *nesting) closeFlow() {
	n.marks = 0
	n.closeKeys()
	if n.flows > 0 {
		n.flows--
		n.drop()
	}
}

func (n *nesting) drop() {
	last := len(n.levels) - 1
	n.keys -= n.levels[last].key
	n.levels = n.levels[:last]
}
