import asyncio


async def fetch(number):
    await asyncio.sleep(0.001)
    return number * 2


async def main():
    print(await asyncio.gather(*(fetch(n) for n in range(5))))


asyncio.run(main())
