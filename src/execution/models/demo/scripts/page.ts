/** A small page about anything: self-contained, without scripts, the same for the same topic. */

interface Card {
  title: string;
  text: string;
}

interface Content {
  symbol: string;
  lead: string;
  cards: readonly Card[];
  closing: string;
}

const OTTERS: Content = {
  symbol: "🦦",
  lead: "Playful, clever and wrapped in the best fur coat of the animal kingdom.",
  cards: [
    {
      title: "The densest fur",
      text: "A sea otter has up to a million hairs on a square inch of skin. It has no blubber: the air in its fur keeps it warm.",
    },
    {
      title: "A raft of otters",
      text: "Sea otters rest together on the water in groups called rafts, and wrap themselves in kelp so as not to drift away.",
    },
    {
      title: "Tools in a pocket",
      text: "They crack shells with stones, and carry a stone in the loose skin under a foreleg.",
    },
    {
      title: "Always hungry",
      text: "A sea otter eats about a quarter of its own weight each day.",
    },
    {
      title: "Guardians of the kelp",
      text: "By eating sea urchins, sea otters keep kelp forests alive, and with them all that lives there.",
    },
    {
      title: "Nearly everywhere",
      text: "Otters live on every continent but Australia and Antarctica. The giant otter of South America grows to about 1.8 metres.",
    },
  ],
  closing:
    "Sea otter mothers float on their backs with the pup on their chest, and groom it until its fur holds so much air that it cannot sink.",
};

function contentFor(topic: string): Content {
  if (/\botters?\b/i.test(topic)) return OTTERS;
  return {
    symbol: "✳",
    lead: `A small beginning for a page about ${topic}.`,
    cards: [
      {
        title: "What it is",
        text: `One plain sentence that says what ${topic} means to you belongs here.`,
      },
      { title: "Why it matters", text: `The one thing a visitor should remember about ${topic}.` },
      {
        title: "Where to begin",
        text: `The first step for somebody who has never heard of ${topic}.`,
      },
      { title: "What comes next", text: "A question that is still open, and who might answer it." },
    ],
    closing: "The demo model knows no facts about this topic. A real model would write them here.",
  };
}

const PALETTES = [
  ["#0b3c49", "#f5f1e8", "#e07a3f"],
  ["#2d3047", "#f7f4f3", "#93b7be"],
  ["#1b4332", "#f1f7ee", "#e9c46a"],
  ["#3d1f4e", "#faf5ff", "#f28482"],
] as const;

/** Facts about a topic, in sentences. */
export function factsAbout(topic: string): string[] {
  return contentFor(topic).cards.map(({ title, text }) => `${title}: ${text}`);
}

/** Renders a page. The topic is a person's text, so it is escaped everywhere. */
export function renderPage(topic: string): string {
  const { symbol, lead, cards, closing } = contentFor(topic);
  const title = escapeHtml(topic.charAt(0).toUpperCase() + topic.slice(1));
  const [dark, light, accent] = PALETTES[sumOf(topic) % PALETTES.length] ?? PALETTES[0];
  const cardHtml = cards
    .map(
      (card) =>
        `      <article><h2>${escapeHtml(card.title)}</h2><p>${escapeHtml(card.text)}</p></article>`,
    )
    .join("\n");
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
  <style>
    :root { --dark: ${dark}; --light: ${light}; --accent: ${accent}; }
    * { box-sizing: border-box; }
    body { margin: 0; font: 17px/1.6 system-ui, sans-serif; color: var(--dark); background: var(--light); }
    header { padding: 4.5rem 1.5rem 4rem; text-align: center; color: var(--light); background: var(--dark); }
    header span { font-size: 4rem; line-height: 1; }
    h1 { margin: .5rem 0; font-size: clamp(2.2rem, 7vw, 4rem); letter-spacing: -.02em; overflow-wrap: anywhere; }
    header p { max-width: 36rem; margin: 0 auto; opacity: .85; }
    main { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); max-width: 62rem; margin: -2rem auto 3rem; padding: 0 1.5rem; }
    article { padding: 1.5rem; background: #fff; border-top: 4px solid var(--accent); border-radius: .75rem; box-shadow: 0 6px 24px rgb(0 0 0 / 8%); }
    h2 { margin: 0 0 .4rem; font-size: 1.1rem; }
    article p { margin: 0; }
    footer { max-width: 40rem; margin: 0 auto 4rem; padding: 0 1.5rem; text-align: center; }
  </style>
</head>
<body>
  <header>
    <span aria-hidden="true">${symbol}</span>
    <h1>${title}</h1>
    <p>${escapeHtml(lead)}</p>
  </header>
  <main>
${cardHtml}
  </main>
  <footer><p>${escapeHtml(closing)}</p><p><small>Made by the demo model of Muster.</small></p></footer>
</body>
</html>
`;
}

function sumOf(text: string): number {
  let sum = 0;
  for (const letter of text.toLowerCase()) sum += letter.codePointAt(0) ?? 0;
  return sum;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter);
}
