// SPDX-License-Identifier: Apache-2.0

package inference

// A program describes how a cause moves probability over a lattice. It is a tree of
// steps that is the same for all causes, and is instantiated with the values of each
// cause.

// An instruction is a step that takes its probability from the q of a node.
type instruction struct {
	kind stepKind
	bit  uint8
	node int32
}

// appendProgram appends the instructions for the tips below a node, or below all roots
// if below is none, among the nodes of a range. bits holds the lattice bit of each
// tip, or none if the tip is not part of the lattice.
func (p *plan) appendProgram(program []instruction, below int32, from, to int, bits []int8) []instruction {
	for i := from; i < to; i++ {
		n := &p.nodes[i]
		if n.parent != below || n.tips == 0 {
			continue
		}
		if n.tip != none {
			if bits[n.tip] != none {
				program = append(program, instruction{stepActivate, uint8(bits[n.tip]), int32(i)})
			}
			continue
		}
		program = append(program, instruction{kind: stepBranch})
		program = p.appendProgram(program, int32(i), i+1, to, bits)
		program = append(program, instruction{kind: stepMerge, node: int32(i)})
	}
	return program
}

// instantiate appends the steps of a cause. It omits steps that cannot occur, and
// replaces a branch that has a single step with that step.
func instantiate(steps []step, program []instruction, q []float64) []step {
	for _, in := range program {
		n := len(steps)
		switch {
		case in.kind == stepBranch:
			steps = append(steps, step{kind: stepBranch})
		case in.kind == stepActivate:
			if q[in.node] > 0 {
				steps = append(steps, step{stepActivate, in.bit, q[in.node]})
			}
		case steps[n-1].kind == stepBranch:
			steps = steps[:n-1]
		case steps[n-1].kind == stepActivate && steps[n-2].kind == stepBranch:
			steps[n-2] = step{stepActivate, steps[n-1].bit, steps[n-1].q * q[in.node]}
			steps = steps[:n-1]
		default:
			steps = append(steps, step{stepMerge, 0, q[in.node]})
		}
	}
	return steps
}
