// SPDX-License-Identifier: Apache-2.0

package model

import "math"

// Lambda is the link of the noisy-OR: the share of patients in whom the
// condition alone brings the observation, when share of them report it
// whatever its cause and leak is how often it occurs without the condition.
// From share = 1 - (1 - leak)(1 - lambda).
func Lambda(share, leak float64) float64 {
	return (share - leak) / (1 - leak)
}

// CarrierShare is the share of patients with a condition who have a risk factor,
// or another observation with a factor, that a share of all people have: Bayes'
// rule on the multipliers of the odds. It is zero where nobody has it.
func CarrierShare(of, present, absent float64) float64 {
	with, without := float64(of*present), float64((1-of)*absent)
	if with <= 0 {
		return 0
	}
	return min(with/(with+without), 1)
}

// BinaryEntropy is the entropy in nats of an event of probability p.
func BinaryEntropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -float64(p*math.Log(p)) - float64((1-p)*math.Log1p(-p))
}

// ninetieth is the 90th percentile of the standard normal distribution.
const ninetieth = 1.2815515655446004

// CourseBetween is the course in which the middle 80 % of patients have had
// symptoms for so many minutes: a tenth for less than from, a tenth for more
// than to. Both are over 0, and from is less than to.
func CourseBetween(from, to float64) Course {
	low, high := math.Log(from), math.Log(to)
	return Course{Mean: (low + high) / 2, Deviation: (high - low) / (2 * ninetieth)}
}
